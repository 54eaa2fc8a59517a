"""The statements of a Python text of the usual shape, by regular expressions on what `python_mask` leaves of it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache

from afresh.code.languages.python_mask import MULTILINE_START_MARK, STRING_MARK, MaskedSource, NeedsParser, find_multiline_spans
from afresh.code.languages.python_signatures import (
    collapse_code_whitespace,
    evaluate_doc_line,
    extract_doc_line,
    is_interface,
    list_base_classes,
    list_bound_names,
    list_chained_names,
    tidy_source,
    truncate_assignment,
)
from afresh.core.symbol import ImportedModule, Symbol, SymbolKind

STATEMENT_START = re.compile(r"\n *+(?:def|class|async +def|import|from|@)(?<=@|\w)(?!\w)|\n *+@")
DEFINITION_NAME = re.compile(r"(?:async +)?(?:def|class) +([^\W\d]\w*)")
BOUND_TARGET = re.compile(r"\n *+([(\[]?[^\W\d]\w*(?: *, *[^\W\d]\w*)*+ *,?[)\]]?) *+(?:=(?!=)|:(?!=))")
UNUSUAL_LINE = re.compile(
    r"\n *+(?:\t|(?:if|elif|else|for|while|try|except|finally|with|async|def|class)\b[^\n]*+(?<!:)(?<!: )(?<!:  )(?=\n)"
    r"|(?:print|exec) +[\w\0])"
)
"""Tabs, a header without a colon or with its body behind it, Python 2."""
IMPORT_BEHIND_COLON = re.compile(r": *+(?:import|from) ")
DOCSTRING_LINE = re.compile(r"\s*\n[ (]*+(?:[rRuU]?(?:\x00|\x01 *\x02) *+)++[ )]*+(?=\n)")
MASKED_MAIN_GUARD = re.compile(r"\nif +__name__ *== *\0")
FROM_IMPORT = re.compile(r"from *(\.[. ]*|) *([\w.]*) *import *\(?([^()]*)\)? *$")


@dataclass(frozen=True, slots=True)
class MaskedStatements:
    code: str
    """One line for each statement, an empty one for each line that continues it; begins and ends with a newline."""
    ends: dict[int, int]
    """Last line of a statement by its first, where it has several."""
    lines: list[str]
    """Of the text as it is written."""

    def source(self, line: int) -> list[str]:
        return self.lines[line - 1 : self.ends.get(line, line)]


@dataclass(slots=True)
class ScannedModule:
    symbols: list[Symbol] = field(default_factory=list[Symbol])
    imports: list[ImportedModule] = field(default_factory=list[ImportedModule])
    doc: str = ""
    entry: str = ""


@dataclass(slots=True)
class DefinitionBlock:
    end: int
    prefix: str
    owner: bool


def split_statements(text: str, masked: MaskedSource) -> MaskedStatements:
    """Unusual for what is not one statement a line."""
    code, ends = masked.code, dict(find_multiline_spans(masked.code))
    if ends:
        lines = code.split("\n")
        for first, last in ends.items():
            lines[first - 1] = " ".join(lines[first - 1 : last])
            lines[first:last] = [""] * (last - first)
        code = "\n".join(lines)
    code = f"\n{code}\n"
    if ";" in code or "\\" in code or UNUSUAL_LINE.search(code) or IMPORT_BEHIND_COLON.search(code):
        raise NeedsParser
    return MaskedStatements(code, ends, text.split("\n"))


class StatementScanner:
    """Goes through the statements once, in order."""

    def __init__(self, given: MaskedStatements) -> None:
        self.given, self.code = given, given.code
        self.found = ScannedModule()
        self.blocks: list[DefinitionBlock] = []
        self.line, self.counted, self.bare = 1, 0, 0
        self.decorated = 0

    def run(self) -> ScannedModule:
        for match in STATEMENT_START.finditer(self.code):
            place = match.start()
            self._constants(place)
            self._enter(place)
            end = self.code.index("\n", place + 1)
            self._statement(self.code[place + 1 : end], end)
        self._constants(len(self.code) - 1)
        self.found.doc = self._doc(0, 0, len(self.code))
        self.found.entry = self._entry()
        return self.found

    def _enter(self, place: int) -> None:
        self.line += self.code.count("\n", self.counted, place)
        self.counted = place
        while self.blocks and place >= self.blocks[-1].end:
            self.blocks.pop()

    def _statement(self, statement: str, end: int) -> None:
        bare = statement.lstrip(" ")
        sign = bare[0]
        if sign == "@":
            self.decorated = self.decorated or self.line
        elif sign == "i":
            self.found.imports.extend(_read_module_imports(bare, self.line))
        elif sign == "f":
            self.found.imports.append(_read_from_import(bare, self.line))
        else:
            self._definition(bare, len(statement) - len(bare), end)
            return
        self.bare = max(self.bare, end)

    def _definition(self, header: str, indent: int, end: int) -> None:
        named = DEFINITION_NAME.match(header)
        dedent = _dedent_pattern(indent).search(self.code, end)
        after = dedent.start() if dedent else len(self.code)
        body = self.code[end:after].rstrip()
        if named is None or not body:
            raise NeedsParser
        last = self.line + body.count("\n")
        around = self.blocks[-1] if self.blocks else DefinitionBlock(0, "", False)
        name, is_class = around.prefix + named[1], header[0] == "c"
        signature = self._written(header)[:-1].rstrip()
        bases = list_base_classes(signature) if is_class else ()
        kind = _definition_kind(is_class, bases, around.owner)
        first, self.decorated = self.decorated or self.line, 0
        doc = self._doc(end, self.line, after)
        self.found.symbols.append(Symbol(name, kind, first, self.given.ends.get(last, last), signature, doc, bases))
        self.blocks.append(DefinitionBlock(after, name + ".", is_class))
        if self.bare < end:
            self.bare = end if is_class else after

    def _constants(self, until: int) -> None:
        """Of modules and classes, between where the last statement ended and this one."""
        if until <= self.bare:
            return
        for match in BOUND_TARGET.finditer(self.code, self.bare, until + 1):
            names = list_bound_names(match[1])
            if not names:
                continue
            self._enter(match.start())
            end = self.code.index("\n", match.end())
            statement = self.code[match.start() : end]
            names += list_chained_names(self.code[match.end() : end]) if self.code[match.end() - 1] == "=" else []
            self._bind(names, statement)
        self.bare = until

    def _bind(self, names: list[str], statement: str) -> None:
        signature = self._written(statement)
        prefix = self.blocks[-1].prefix if self.blocks else ""
        end = self.given.ends.get(self.line, self.line)
        self.found.symbols.extend(
            Symbol(prefix + name, SymbolKind.CONSTANT, self.line, end, truncate_assignment(signature)) for name in names
        )

    def _written(self, statement: str) -> str:
        """The statement on one line, with its strings."""
        if STRING_MARK in statement or MULTILINE_START_MARK in statement:
            return tidy_source("\n".join(self.given.source(self.line)))
        return collapse_code_whitespace(statement)

    def _doc(self, end: int, line: int, after: int) -> str:
        match = DOCSTRING_LINE.match(self.code, end, after + 1)
        if match is None:
            return ""
        source = self.given.source(line + self.code.count("\n", end, match.end()))
        return (
            extract_doc_line(source)
            if match[0].count(STRING_MARK) + match[0].count(MULTILINE_START_MARK) == 1
            else evaluate_doc_line(source)
        )

    def _entry(self) -> str:
        match = MASKED_MAIN_GUARD.search(self.code)
        line = 1 + self.code.count("\n", 0, match.start()) if match else 0
        return 'if __name__ == "__main__"' if match and "__main__" in self.given.lines[line - 1] else ""


def _definition_kind(is_class: bool, bases: tuple[str, ...], owned: bool) -> SymbolKind:
    if is_class:
        return SymbolKind.INTERFACE if is_interface(bases) else SymbolKind.CLASS
    return SymbolKind.METHOD if owned else SymbolKind.FUNCTION


@cache
def _dedent_pattern(indent: int) -> re.Pattern[str]:
    return re.compile(rf"\n {{0,{indent}}}+[^ \n]")


def _read_module_imports(statement: str, line: int) -> Iterator[ImportedModule]:
    for part in statement.removeprefix("import").split(","):
        name, _, alias = part.strip().partition(" as ")
        if not name:
            raise NeedsParser
        yield ImportedModule(name.strip(), line, (), alias.strip())


def _read_from_import(statement: str, line: int) -> ImportedModule:
    match = FROM_IMPORT.match(statement)
    if match is None:
        raise NeedsParser
    parts = (part.strip().partition(" as ") for part in match[3].split(",") if part.strip())
    names = tuple((name.strip(), alias.strip() or name.strip()) for name, _, alias in parts)
    return ImportedModule(match[1].replace(" ", "") + match[2], line, names)
