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
    r"(#[^\n]*"
    r'|"""[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*"""'
    r"|'''[^'\\]*(?:(?:\\.|'(?!''))[^'\\]*)*'''"
    r'|"[^"\\\n]*(?:\\.[^"\\\n]*)*"'
    r"|'[^'\\\n]*(?:\\.[^'\\\n]*)*')",
    re.DOTALL,
)
"""Comments and strings; a prefix tells nothing of where a string ends."""
STRING = "\0"
OPENS = "\1"
CLOSES = "\2"
"""What stands for a string of one line, and for the ends of one of several."""
NEWLINE = "\n"
ODD = re.compile(r"[\x00\x01\x02\f]")
NAME = re.compile(r"\b[^\W\d]\w*")
WORD = re.compile(rb"\w+")
SAID = re.compile(r"[^\W\d]\w+")
KEYWORDS = frozenset(kwlist)
KEYWORDS_TOO = frozenset(word.encode() for word in kwlist)
NINE = ord("9")
PREFIX = re.compile(r"(?<!\w)[rRbBuUfF]{1,2}\Z")
BRACE = re.compile(r"[{}]")
FORMAT = re.compile(r"[()\[\]{}]|![rsa](?!\w)|:")
OPENING = "([{"
CLOSING = ")]}"
BRACKETS = b"()[]{}\n\1\2"
OTHERS = bytes(sign for sign in range(256) if sign not in BRACKETS)
CLOSED_BY = {40: 41, 91: 93, 123: 125, 1: 2}


NESTED = 20
"""Fields of an f-string within each other."""
DEEPEST = 200
"""Brackets within brackets, as many as Python itself allows."""


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
            names = {name.decode(): count for name, count in found.items() if name[0] > NINE and name not in KEYWORDS_TOO}
        else:
            names = {name: count for name, count in Counter(NAME.findall(self.code)).items() if name not in KEYWORDS}
        for prefix in self.prefixes:
            names[prefix] -= 1
            if not names[prefix]:
                del names[prefix]
        names = Counter(names)
        if self.fields:
            names.update(name for name in NAME.findall(self.fields) if name not in KEYWORDS)
        return names

    def prose(self) -> Counter[str]:
        """Words of comments and strings."""
        return Counter(SAID.findall("\n".join(self.pieces)))


def masked(text: str) -> Masked:
    """Unusual when strings can't be told from code without a parser."""
    if ODD.search(text):
        raise Unusual
    parts = APART.split(text)
    pieces = parts[1::2]
    parts[1::2] = [
        "" if piece[0] == "#" else STRING if "\n" not in piece else OPENS + NEWLINE * piece.count(NEWLINE) + CLOSES
        for piece in pieces
    ]
    code = "".join(parts)
    if '"' in code or "'" in code:
        raise Unusual
    prefixed = [(before, piece) for before, piece in zip(parts[::2], pieces, strict=False) if before[-1:].isalpha()]
    prefixes, fields = list[str](), list[str]()
    for before, piece in prefixed:
        if piece[0] != "#" and (found := PREFIX.search(before, max(0, len(before) - 3))):
            prefixes.append(found[0])
            if "{" in piece and "f" in found[0].lower():
                fields.extend(fields_of(piece))
    return Masked(code, pieces, prefixes, "\n".join(fields))


def fields_of(piece: str) -> Iterator[str]:
    """The expressions of an f-string. Unusual for one whose quotes may be those of a string within it."""
    depth = begin = 0
    inside = piece.replace("{{", "  ").replace("}}", "  ") if "{{" in piece else piece
    for match in BRACE.finditer(inside):
        if match[0] == "{":
            begin = begin if depth else match.end()
            depth += 1
            if depth > NESTED:
                raise Unusual
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
    for _ in range(DEEPEST):
        length = len(left)
        left = left.replace(b"()", b"").replace(b"[]", b"").replace(b"{}", b"")
        if length == len(left):
            break
    else:
        raise Unusual
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
