"""A Python text without its strings and comments, with one line for each statement: what a few regular expressions can read.

Parsing every file of a tree costs more than all the rest of an index. A text that keeps to the usual shape, as nearly all do, is
read without; what does not is given up here and left to `ast`.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from keyword import kwlist

STRING_OR_COMMENT = re.compile(
    r"(#[^\n]*"
    r'|"""[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*"""'
    r"|'''[^'\\]*(?:(?:\\.|'(?!''))[^'\\]*)*'''"
    r'|"[^"\\\n]*(?:\\.[^"\\\n]*)*"'
    r"|'[^'\\\n]*(?:\\.[^'\\\n]*)*')",
    re.DOTALL,
)
"""Comments and strings; a prefix tells nothing of where a string ends."""
STRING_MARK = "\0"
MULTILINE_START_MARK = "\1"
MULTILINE_END_MARK = "\2"
"""What stands for a string of one line, and for the ends of one of several."""
NEWLINE = "\n"
CONTROL_CHARACTER = re.compile(r"[\x00\x01\x02\f]")
IDENTIFIER = re.compile(r"\b[^\W\d]\w*")
ASCII_WORD = re.compile(rb"\w+")
PROSE_WORD = re.compile(r"[^\W\d]\w+")
KEYWORDS = frozenset(kwlist)
KEYWORD_BYTES = frozenset(word.encode() for word in kwlist)
NINE_BYTE = ord("9")
STRING_PREFIX = re.compile(r"(?<!\w)[rRbBuUfF]{1,2}\Z")
BRACE = re.compile(r"[{}]")
FORMAT_SEPARATOR = re.compile(r"[()\[\]{}]|![rsa](?!\w)|:")
OPENING_BRACKETS = "([{"
CLOSING_BRACKETS = ")]}"
STRUCTURE_BYTES = b"()[]{}\n\1\2"
NON_STRUCTURE_BYTES = bytes(sign for sign in range(256) if sign not in STRUCTURE_BYTES)
CLOSING_BYTE = {40: 41, 91: 93, 123: 125, 1: 2}


MAX_NESTED_FIELDS = 20
"""Fields of an f-string within each other."""
MAX_BRACKET_DEPTH = 200
"""Brackets within brackets, as many as Python itself allows."""


class NeedsParser(Exception):
    """The text has to be parsed to be understood."""


@dataclass(frozen=True, slots=True)
class MaskedSource:
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
            found = Counter(ASCII_WORD.findall(self.code.encode()))
            names = {name.decode(): count for name, count in found.items() if name[0] > NINE_BYTE and name not in KEYWORD_BYTES}
        else:
            names = {name: count for name, count in Counter(IDENTIFIER.findall(self.code)).items() if name not in KEYWORDS}
        for prefix in self.prefixes:
            names[prefix] -= 1
            if not names[prefix]:
                del names[prefix]
        names = Counter(names)
        if self.fields:
            names.update(name for name in IDENTIFIER.findall(self.fields) if name not in KEYWORDS)
        return names

    def prose(self) -> Counter[str]:
        """Words of comments and strings."""
        return Counter(PROSE_WORD.findall("\n".join(self.pieces)))


def mask_source(text: str) -> MaskedSource:
    """Unusual when strings can't be told from code without a parser."""
    if CONTROL_CHARACTER.search(text):
        raise NeedsParser
    parts = STRING_OR_COMMENT.split(text)
    pieces = parts[1::2]
    parts[1::2] = [
        ""
        if piece[0] == "#"
        else STRING_MARK
        if "\n" not in piece
        else MULTILINE_START_MARK + NEWLINE * piece.count(NEWLINE) + MULTILINE_END_MARK
        for piece in pieces
    ]
    code = "".join(parts)
    if '"' in code or "'" in code:
        raise NeedsParser
    prefixed = [(before, piece) for before, piece in zip(parts[::2], pieces, strict=False) if before[-1:].isalpha()]
    prefixes, fields = list[str](), list[str]()
    for before, piece in prefixed:
        if piece[0] != "#" and (found := STRING_PREFIX.search(before, max(0, len(before) - 3))):
            prefixes.append(found[0])
            if "{" in piece and "f" in found[0].lower():
                fields.extend(extract_fstring_fields(piece))
    return MaskedSource(code, pieces, prefixes, "\n".join(fields))


def extract_fstring_fields(piece: str) -> Iterator[str]:
    """The expressions of an f-string. Unusual for one whose quotes may be those of a string within it."""
    depth = begin = 0
    inside = piece.replace("{{", "  ").replace("}}", "  ") if "{{" in piece else piece
    for match in BRACE.finditer(inside):
        if match[0] == "{":
            begin = begin if depth else match.end()
            depth += 1
            if depth > MAX_NESTED_FIELDS:
                raise NeedsParser
        elif depth:
            depth -= 1
            if not depth:
                yield from _field_expressions(STRING_OR_COMMENT.sub(" ", inside[begin : match.start()]))
    if depth:
        raise NeedsParser


def _field_expressions(field: str) -> Iterator[str]:
    """What is shown, and the fields within how it is shown."""
    depth = 0
    for match in FORMAT_SEPARATOR.finditer(field):
        if match[0] in OPENING_BRACKETS:
            depth += 1
        elif match[0] in CLOSING_BRACKETS:
            depth -= 1
        elif not depth:
            yield field[: match.start()]
            yield from extract_fstring_fields(field[match.end() :])
            return
    yield field


def find_multiline_spans(code: str) -> list[tuple[int, int]]:
    """First and last line of each statement that goes over several, counted from 1. Unusual for brackets that don't pair."""
    left = code.encode("utf-8", "replace").translate(None, NON_STRUCTURE_BYTES)
    for _ in range(MAX_BRACKET_DEPTH):
        length = len(left)
        left = left.replace(b"()", b"").replace(b"[]", b"").replace(b"{}", b"")
        if length == len(left):
            break
    else:
        raise NeedsParser
    found: list[tuple[int, int]] = []
    expected: list[int] = []
    begin = 0
    for line, signs in enumerate(left.split(b"\n"), 1):
        for sign in signs:
            if sign in CLOSING_BYTE:
                begin = begin if expected else line
                expected.append(CLOSING_BYTE[sign])
            elif not expected or expected.pop() != sign:
                raise NeedsParser
            elif not expected and line > begin:
                # a bracket that opens where another closed goes on with the same statement
                first = found.pop()[0] if found and found[-1][1] == begin else begin
                found.append((first, line))
    if expected:
        raise NeedsParser
    return found
