"""The statements of a Python text of the usual shape, by regular expressions on what `python_mask` leaves of it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache

from afresh.domain.code import Import, Kind, Symbol
from afresh.insight.languages.python_header import (
    also_bound,
    bases_of,
    collapsed,
    cut,
    evaluated,
    first_line,
    is_interface,
    names_in,
    tidy,
)
from afresh.insight.languages.python_mask import OPENS, STRING, Masked, Unusual, spans

STATEMENT = re.compile(r"\n *+(?:def|class|async +def|import|from|@)(?<=@|\w)(?!\w)|\n *+@")
DEFINED = re.compile(r"(?:async +)?(?:def|class) +([^\W\d]\w*)")
BOUND = re.compile(r"\n *+([(\[]?[^\W\d]\w*(?: *, *[^\W\d]\w*)*+ *,?[)\]]?) *+(?:=(?!=)|:(?!=))")
UNUSUAL = re.compile(
    r"\n *+(?:\t|(?:if|elif|else|for|while|try|except|finally|with|async|def|class)\b[^\n]*+(?<!:)(?<!: )(?<!:  )(?=\n)"
    r"|(?:print|exec) +[\w\0])"
)
"""Tabs, a header without a colon or with its body behind it, Python 2."""
BEHIND = re.compile(r": *+(?:import|from) ")
DOCUMENTED = re.compile(r"\s*\n[ (]*+(?:[rRuU]?(?:\x00|\x01 *\x02) *+)++[ )]*+(?=\n)")
MAIN = re.compile(r"\nif +__name__ *== *\0")
IMPORTED = re.compile(r"from *(\.[. ]*|) *([\w.]*) *import *\(?([^()]*)\)? *$")


@dataclass(frozen=True, slots=True)
class Statements:
    code: str
    """One line for each statement, an empty one for each line that continues it; begins and ends with a newline."""
    ends: dict[int, int]
    """Last line of a statement by its first, where it has several."""
    lines: list[str]
    """Of the text as it is written."""

    def source(self, line: int) -> list[str]:
        return self.lines[line - 1 : self.ends.get(line, line)]


@dataclass(slots=True)
class Found:
    symbols: list[Symbol] = field(default_factory=list[Symbol])
    imports: list[Import] = field(default_factory=list[Import])
    doc: str = ""
    entry: str = ""


@dataclass(slots=True)
class Block:
    end: int
    prefix: str
    owner: bool


def statements(text: str, masked: Masked) -> Statements:
    """Unusual for what is not one statement a line."""
    code, ends = masked.code, dict(spans(masked.code))
    if ends:
        lines = code.split("\n")
        for first, last in ends.items():
            lines[first - 1] = " ".join(lines[first - 1 : last])
            lines[first:last] = [""] * (last - first)
        code = "\n".join(lines)
    code = f"\n{code}\n"
    if ";" in code or "\\" in code or UNUSUAL.search(code) or BEHIND.search(code):
        raise Unusual
    return Statements(code, ends, text.split("\n"))


class Scan:
    """Goes through the statements once, in order."""

    def __init__(self, given: Statements) -> None:
        self.given, self.code = given, given.code
        self.found = Found()
        self.blocks: list[Block] = []
        self.line, self.counted, self.bare = 1, 0, 0
        self.decorated = 0

    def run(self) -> Found:
        for match in STATEMENT.finditer(self.code):
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
            self.found.imports.extend(_whole_modules(bare, self.line))
        elif sign == "f":
            self.found.imports.append(_members(bare, self.line))
        else:
            self._definition(bare, len(statement) - len(bare), end)
            return
        self.bare = max(self.bare, end)

    def _definition(self, header: str, indent: int, end: int) -> None:
        named = DEFINED.match(header)
        dedent = _dedent(indent).search(self.code, end)
        after = dedent.start() if dedent else len(self.code)
        body = self.code[end:after].rstrip()
        if named is None or not body:
            raise Unusual
        last = self.line + body.count("\n")
        around = self.blocks[-1] if self.blocks else Block(0, "", False)
        name, is_class = around.prefix + named[1], header[0] == "c"
        signature = self._written(header)[:-1].rstrip()
        bases = bases_of(signature) if is_class else ()
        kind = _kind(is_class, bases, around.owner)
        first, self.decorated = self.decorated or self.line, 0
        doc = self._doc(end, self.line, after)
        self.found.symbols.append(Symbol(name, kind, first, self.given.ends.get(last, last), signature, doc, bases))
        self.blocks.append(Block(after, name + ".", is_class))
        if self.bare < end:
            self.bare = end if is_class else after

    def _constants(self, until: int) -> None:
        """Of modules and classes, between where the last statement ended and this one."""
        if until <= self.bare:
            return
        for match in BOUND.finditer(self.code, self.bare, until + 1):
            names = names_in(match[1])
            if not names:
                continue
            self._enter(match.start())
            end = self.code.index("\n", match.end())
            statement = self.code[match.start() : end]
            names += also_bound(self.code[match.end() : end]) if self.code[match.end() - 1] == "=" else []
            self._bind(names, statement)
        self.bare = until

    def _bind(self, names: list[str], statement: str) -> None:
        signature = self._written(statement)
        prefix = self.blocks[-1].prefix if self.blocks else ""
        end = self.given.ends.get(self.line, self.line)
        self.found.symbols.extend(Symbol(prefix + name, Kind.CONSTANT, self.line, end, cut(signature)) for name in names)

    def _written(self, statement: str) -> str:
        """The statement on one line, with its strings."""
        if STRING in statement or OPENS in statement:
            return tidy("\n".join(self.given.source(self.line)))
        return collapsed(statement)

    def _doc(self, end: int, line: int, after: int) -> str:
        match = DOCUMENTED.match(self.code, end, after + 1)
        if match is None:
            return ""
        source = self.given.source(line + self.code.count("\n", end, match.end()))
        return first_line(source) if match[0].count(STRING) + match[0].count(OPENS) == 1 else evaluated(source)

    def _entry(self) -> str:
        match = MAIN.search(self.code)
        line = 1 + self.code.count("\n", 0, match.start()) if match else 0
        return 'if __name__ == "__main__"' if match and "__main__" in self.given.lines[line - 1] else ""


def _kind(is_class: bool, bases: tuple[str, ...], owned: bool) -> Kind:
    if is_class:
        return Kind.INTERFACE if is_interface(bases) else Kind.CLASS
    return Kind.METHOD if owned else Kind.FUNCTION


@cache
def _dedent(indent: int) -> re.Pattern[str]:
    return re.compile(rf"\n {{0,{indent}}}+[^ \n]")


def _whole_modules(statement: str, line: int) -> Iterator[Import]:
    for part in statement.removeprefix("import").split(","):
        name, _, alias = part.strip().partition(" as ")
        if not name:
            raise Unusual
        yield Import(name.strip(), line, (), alias.strip())


def _members(statement: str, line: int) -> Import:
    match = IMPORTED.match(statement)
    if match is None:
        raise Unusual
    parts = (part.strip().partition(" as ") for part in match[3].split(",") if part.strip())
    names = tuple((name.strip(), alias.strip() or name.strip()) for name, _, alias in parts)
    return Import(match[1].replace(" ", "") + match[2], line, names)
