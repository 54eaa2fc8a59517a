"""What a Python text says, by regular expressions on what `python_text` leaves of it; also one that does not parse."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from afresh.code.languages.python_imports import index_modules, resolve_import
from afresh.code.languages.python_text import (
    MaskedStatements,
    collapse_code_whitespace,
    extract_doc_line,
    extract_header,
    join_statements,
    list_base_classes,
    list_bound_names,
    list_chained_names,
    mask_source,
    tidy_source,
    truncate_assignment,
)
from afresh.core.symbol import FileReading, ImportedModule, Symbol, SymbolKind

__all__ = ["index_modules", "read_source", "read_source_and_words", "resolve_import"]

STATEMENT_START = re.compile(
    r"(?:\n( *+)|; *+)(?:@|(?:import|from|(?:async +)?(?:def|class))(?!\w)"
    r"|([(\[]?[^\W\d]\w*(?: *, *[^\W\d]\w*)*+ *,?[)\]]?) *+(?:=(?!=)|:(?!=)))"
    r"|: *+(?=(?:import|from) )"
)
"""A decorator, an import, a definition, or the target of an assignment; an import also behind a header."""
DEFINITION_NAME = re.compile(r"(?:async +)?(?:def|class) +([^\W\d]\w*)")
BROKEN_LINE = re.compile(
    r"\n *+(?:(?:if|elif|else|for|while|try|except|finally|with|async|def|class)\b[^\n:]*+(?=\n)|(?:print|exec) +[\w\0])"
)
"""A header without a colon, Python 2."""
DOCSTRING_LINE = re.compile(r"\s*\n[ (]*+(?:(?:\x00|\x01 *\x02) *+)++[ )]*+(?=\n)")
FROM_IMPORT = re.compile(r"from *(\.[. ]*|) *([\w.]*) *import *\(?([^();]*)\)?")
MAIN_GUARD = re.compile(r"^if +__name__ *== *['\"]__main__['\"]", re.MULTILINE)


def read_source(path: str, text: str) -> FileReading:
    return read_source_and_words(path, text)[0]


def read_source_and_words(path: str, text: str) -> tuple[FileReading, Counter[str]]:
    """The reading, and all identifiers and words of the text with how often they are said."""
    text = text.removeprefix("\ufeff")
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    masked = mask_source(text)
    identifiers, said = masked.identifiers(), masked.prose()
    for name, count in identifiers.items():
        said[name] += count
    found = StatementScanner(join_statements(text, masked.code))
    found.run()
    reading = FileReading(
        "python",
        text.count("\n") + (not text.endswith("\n") and bool(text)),
        tuple(found.symbols),
        tuple(found.imports),
        tuple(sorted(identifiers)),
        found.read_doc(0, 0, len(found.code)),
        'if __name__ == "__main__"' if MAIN_GUARD.search(text) else "",
        "does not parse" if found.broken else "",
    )
    return reading, said


@dataclass(frozen=True, slots=True)
class DefinitionBlock:
    end: int
    prefix: str
    is_class: bool


MODULE_BLOCK = DefinitionBlock(0, "", False)


class StatementScanner:
    """Goes through the statements once, in order."""

    def __init__(self, given: MaskedStatements) -> None:
        self.given, self.code = given, given.code
        self.broken = given.broken or bool(BROKEN_LINE.search(given.code))
        self.symbols: list[Symbol] = []
        self.imports: list[ImportedModule] = []
        self.blocks: list[DefinitionBlock] = []
        self.line, self.counted = 1, 0
        self.local_until = 0
        """Where the function ends whose names are not seen from outside."""
        self.decorated = 0
        """Line of the first decorator of the next definition."""

    def run(self) -> None:
        for match in STATEMENT_START.finditer(self.code):
            if match[2] and match.start() < self.local_until:
                continue
            self._enter(self.code.rfind("\n", 0, match.start() + 1))
            end = self.code.find("\n", match.start() + 1)
            if match[2]:
                self._constants(match, end)
            elif match[1] is None:
                self._imports(self.code[match.start() : end].lstrip(";: "))
            else:
                self._statement(self.code[match.end(1) : end], len(match[1]), end)

    def _enter(self, place: int) -> None:
        self.line += self.code.count("\n", self.counted, place)
        self.counted = place
        while self.blocks and place >= self.blocks[-1].end:
            self.blocks.pop()

    def _statement(self, statement: str, indent: int, end: int) -> None:
        if statement[0] == "@":
            self.decorated = self.decorated or self.line
        elif statement[0] in "if":
            self._imports(statement)
        elif named := DEFINITION_NAME.match(statement):
            self._definition(statement, named[1], indent, end)
        else:
            self.broken = True

    def _imports(self, statement: str) -> None:
        if statement.startswith("import"):
            self.imports += _read_module_imports(statement, self.line)
        elif match := FROM_IMPORT.match(statement):
            parts = (part.strip().partition(" as ") for part in match[3].split(",") if part.strip())
            names = tuple((name.strip(), alias.strip() or name.strip()) for name, _, alias in parts)
            self.imports.append(ImportedModule(match[1].replace(" ", "") + match[2], self.line, names))
        else:
            self.broken = True

    def _definition(self, header: str, name: str, indent: int, end: int) -> None:
        header = header.rstrip()
        dedent = _dedent_pattern(indent).search(self.code, end)
        after = dedent.start() if dedent else len(self.code)
        body = self.code[end:after].rstrip()
        last = self.line + body.count("\n")
        around = self.blocks[-1] if self.blocks else MODULE_BLOCK
        is_class = header[0] == "c"
        if header[-1] == ":":
            self.broken = self.broken or not body
            signature = self._written(header)[:-1].rstrip()
        else:
            signature = extract_header(self.given.source(self.line))
        bases = list_base_classes(signature) if is_class else ()
        kind = _definition_kind(is_class, bases, around.is_class)
        first, self.decorated = self.decorated or self.line, 0
        doc = self.read_doc(end, self.line, after)
        self.symbols.append(Symbol(around.prefix + name, kind, first, self.given.ends.get(last, last), signature, doc, bases))
        self.blocks.append(DefinitionBlock(after, f"{around.prefix}{name}.", is_class))
        if not is_class:
            self.local_until = max(self.local_until, after)

    def _constants(self, match: re.Match[str], end: int) -> None:
        """Of modules and classes."""
        names = list_bound_names(match[2])
        rest = self.code[match.end() : end].partition(";")[0]
        if names and self.code[match.end() - 1] == "=":
            names += list_chained_names(rest)
        if names:
            signature = truncate_assignment(self._written(match[0].lstrip(";\n") + rest))
            prefix = self.blocks[-1].prefix if self.blocks else ""
            last = self.given.ends.get(self.line, self.line)
            self.symbols += [Symbol(prefix + name, SymbolKind.CONSTANT, self.line, last, signature) for name in names]

    def _written(self, statement: str) -> str:
        """The statement on one line, with its strings."""
        if "\0" in statement or "\1" in statement:
            return tidy_source(self.given.source(self.line))
        return collapse_code_whitespace(statement)

    def read_doc(self, end: int, line: int, after: int) -> str:
        match = DOCSTRING_LINE.match(self.code, end, after + 1)
        return extract_doc_line(self.given.source(line + self.code.count("\n", end, match.end()))) if match else ""


def _definition_kind(is_class: bool, bases: tuple[str, ...], owned: bool) -> SymbolKind:
    if not is_class:
        return SymbolKind.METHOD if owned else SymbolKind.FUNCTION
    is_interface = any(base.partition("[")[0].rpartition(".")[2] == "Protocol" for base in bases)
    return SymbolKind.INTERFACE if is_interface else SymbolKind.CLASS


@cache
def _dedent_pattern(indent: int) -> re.Pattern[str]:
    return re.compile(rf"\n {{0,{indent}}}+[^ \n]")


def _read_module_imports(statement: str, line: int) -> Iterator[ImportedModule]:
    for part in statement.removeprefix("import").partition(";")[0].split(","):
        name, _, alias = part.strip().partition(" as ")
        if name:
            yield ImportedModule(name.strip(), line, (), alias.strip())
