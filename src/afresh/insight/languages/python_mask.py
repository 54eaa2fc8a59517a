"""A Python text without its strings and comments, with one line for each statement: what a few regular expressions can read.

Parsing every file of a tree costs more than all the rest of an index. A text that keeps to the usual shape, as nearly all do, is
read without; what does not is given up here and left to `ast`.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from keyword import kwlist

APART = re.compile(
    r"#[^\n]*"
    r'|"""[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*"""'
    r"|'''[^'\\]*(?:(?:\\.|'(?!''))[^'\\]*)*'''"
    r'|"[^"\\\n]*(?:\\.[^"\\\n]*)*"'
    r"|'[^'\\\n]*(?:\\.[^'\\\n]*)*'",
    re.DOTALL,
)
"""Comments and strings; a prefix tells nothing of where a string ends."""
STRING, OPENS, CLOSES = "\0", "\1", "\2"
"""What stands for a string of one line, and for the ends of one of several."""
ODD = re.compile(r"[\x00\x01\x02\f]")
NAME = re.compile(r"\b[^\W\d]\w*")
WORD = re.compile(rb"\w+")
SAID = re.compile(r"[^\W\d]\w+")
KEYWORDS = frozenset(kwlist)
PREFIX = re.compile(r"[rRbBuUfF]{1,2}\Z")
BRACE = re.compile(r"[{}]")
FORMAT = re.compile(r"[()\[\]{}]|![rsa](?!\w)|:")
OPENING, CLOSING = "([{", ")]}"
BRACKETS = b"()[]{}\n\1\2"
OTHERS = bytes(sign for sign in range(256) if sign not in BRACKETS)
CLOSED_BY = {40: 41, 91: 93, 123: 125, 1: 2}


class Unusual(Exception):
    """The text has to be parsed to be understood."""


@dataclass(frozen=True, slots=True)
class Masked:
    code: str
    """The text with marks for strings, without comments; the same lines."""
    pieces: list[str]
    """Comments and strings, in order."""
    prefixes: list[str]
    """Letters before strings."""
    fields: str
    """Code inside of f-strings."""

    def identifiers(self) -> Counter[str]:
        """Of the code, with how often each is used."""
        if self.code.isascii():
            found = Counter(WORD.findall(self.code.encode()))
            names = Counter({name.decode(): count for name, count in found.items() if not 48 <= name[0] <= 57})
        else:
            names = Counter(NAME.findall(self.code))
        for prefix in self.prefixes:
            names[prefix] -= 1
        if self.fields:
            names.update(NAME.findall(self.fields))
        return Counter({name: count for name, count in names.items() if count > 0 and name not in KEYWORDS})

    def prose(self) -> Counter[str]:
        """Words of comments and strings."""
        return Counter(SAID.findall("\n".join(self.pieces)))


def masked(text: str) -> Masked:
    """Unusual when strings can't be told from code without a parser."""
    if ODD.search(text):
        raise Unusual
    pieces: list[str] = []
    prefixes: list[str] = []
    fields: list[str] = []

    def stand_in(match: re.Match[str]) -> str:
        piece = match[0]
        pieces.append(piece)
        if piece[0] == "#":
            return ""
        start = match.start()
        if start and text[start - 1].isalpha():
            _look_at_prefix(text, start, piece, prefixes, fields)
        lines = piece.count("\n")
        return OPENS + "\n" * lines + CLOSES if lines else STRING

    code = APART.sub(stand_in, text)
    if '"' in code or "'" in code:
        raise Unusual
    return Masked(code, pieces, prefixes, "\n".join(fields))


def _look_at_prefix(text: str, start: int, piece: str, prefixes: list[str], fields: list[str]) -> None:
    found = PREFIX.search(text, max(0, start - 3), start)
    if found is None:
        return
    prefixes.append(found[0])
    if "f" in found[0].lower() and "{" in piece:
        fields.extend(fields_of(piece))


def fields_of(piece: str) -> Iterator[str]:
    """The expressions of an f-string. Unusual for one whose quotes may be those of a string within it."""
    depth = begin = 0
    inside = piece.replace("{{", "  ").replace("}}", "  ") if "{{" in piece else piece
    for match in BRACE.finditer(inside):
        if match[0] == "{":
            begin = begin if depth else match.end()
            depth += 1
        elif depth:
            depth -= 1
            if not depth:
                yield from _expressions(APART.sub(" ", inside[begin : match.start()]))
    if depth:
        raise Unusual


def _expressions(field: str) -> Iterator[str]:
    """What is shown, and the fields within how it is shown."""
    depth = 0
    for match in FORMAT.finditer(field):
        if match[0] in OPENING:
            depth += 1
        elif match[0] in CLOSING:
            depth -= 1
        elif not depth:
            yield field[: match.start()]
            yield from fields_of(field[match.end() :])
            return
    yield field


def spans(code: str) -> list[tuple[int, int]]:
    """First and last line of each statement that goes over several, counted from 1. Unusual for brackets that don't pair."""
    left = code.encode("utf-8", "replace").translate(None, OTHERS)
    length = -1
    while length != len(left):
        length = len(left)
        left = left.replace(b"()", b"").replace(b"[]", b"").replace(b"{}", b"")
    found: list[tuple[int, int]] = []
    expected: list[int] = []
    begin = 0
    for line, signs in enumerate(left.split(b"\n"), 1):
        for sign in signs:
            if sign in CLOSED_BY:
                begin = begin if expected else line
                expected.append(CLOSED_BY[sign])
            elif not expected or expected.pop() != sign:
                raise Unusual
            elif not expected and line > begin:
                # a bracket that opens where another closed goes on with the same statement
                first = found.pop()[0] if found and found[-1][1] == begin else begin
                found.append((first, line))
    if expected:
        raise Unusual
    return found
