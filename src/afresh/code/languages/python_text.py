"""A Python text without its strings and comments, with one line for each statement: what regular expressions can read.

Parsing every file of a tree with `ast` takes twice the time of a whole cold index.
"""

import re
from collections import Counter
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
"""Comments and strings; a prefix does not change where a string ends."""
STRING_MARK = "\0"
MULTILINE_STRING_MARKS = "\1{}\2"
"""What replaces a string of one line, and one of several."""
CONTINUATION_MARKS = "\3\n\4"
CONTROL_CHARACTER = re.compile(r"[\0-\4\f]")
ASCII_WORD = re.compile(rb"\w+")
IDENTIFIER = re.compile(r"\b[^\W\d]\w*")
PROSE_WORD = re.compile(r"[^\W\d]\w+")
NINE_BYTE = ord("9")
KEYWORDS = frozenset(kwlist)
STRING_PREFIX = re.compile(r"(?<!\w)[rRbBuUfF]{1,2}\Z")
FSTRING_FIELD = re.compile(r"\{([^{}]+)")
FIELD_STRING = re.compile(r"(?<!\w)[rRbBuUfF]{0,2}(?:'[^']*+'?|\"[^\"]*+\"?)")
"""A string inside of a field, which may end behind another field."""
FORMAT_SPEC = re.compile(r"![rsa](?=:|$)|:[^\])]*$")
"""How a field of an f-string is shown; the colon of a slice has a bracket behind it."""
LEADING_TABS = re.compile(r"^ *\t[ \t]*", re.MULTILINE)
NON_STRUCTURE_BYTES = bytes(sign for sign in range(256) if sign not in b"()[]{}\n\1\2\3\4")
CLOSING_BYTE = {40: 41, 91: 93, 123: 125, 1: 2, 3: 4}
MAX_PAIRING_ROUNDS = 200
"""Rounds that take out pairs of brackets with nothing between them; Python allows no deeper nesting."""


@dataclass(frozen=True, slots=True)
class MaskedSource:
    code: str
    """The text with marks for strings, without comments; the same lines."""
    pieces: list[str]
    """Comments and strings, in order."""
    fields: list[str]
    """Code inside of f-strings."""

    def identifiers(self) -> Counter[str]:
        """Of the code, with how often each is used."""
        code = STRING_MARK.join([self.code, *self.fields])
        if not code.isascii():
            return Counter(name for name in IDENTIFIER.findall(code) if name not in KEYWORDS)
        words = Counter(ASCII_WORD.findall(code.encode()))
        named = ((word.decode(), count) for word, count in words.items() if word[0] > NINE_BYTE)
        return Counter({name: count for name, count in named if name not in KEYWORDS})

    def prose(self) -> Counter[str]:
        """Words of comments and strings."""
        return Counter(PROSE_WORD.findall("\n".join(self.pieces)))


@dataclass(frozen=True, slots=True)
class MaskedStatements:
    code: str
    """One line for each statement, an empty one for each line that continues it; begins and ends with a newline."""
    ends: dict[int, int]
    """Last line of a statement by its first, where it has several."""
    lines: list[str]
    """Of the text as it is written."""
    broken: bool
    """Whether a bracket or a quote has no partner."""

    def source(self, line: int) -> str:
        return "\n".join(self.lines[line - 1 : self.ends.get(line, line)])


def mask_source(text: str) -> MaskedSource:
    parts = STRING_OR_COMMENT.split(CONTROL_CHARACTER.sub(" ", text))
    pieces, fields = parts[1::2], list[str]()
    for number, piece in enumerate(pieces):
        before = parts[2 * number]
        if before[-1:].isalpha() and piece[0] != "#" and (prefix := STRING_PREFIX.search(before, max(0, len(before) - 3))):
            parts[2 * number] = before[: prefix.start()]
            if "{" in piece and "f" in prefix[0].lower():
                fields += [
                    FORMAT_SPEC.sub("", FIELD_STRING.sub("", one)) for one in FSTRING_FIELD.findall(piece.replace("{{", "  "))
                ]
    parts[1::2] = map(_piece_mark, pieces)
    return MaskedSource("".join(parts), pieces, fields)


def _piece_mark(piece: str) -> str:
    if piece[0] == "#":
        return ""
    return MULTILINE_STRING_MARKS.format("\n" * piece.count("\n")) if "\n" in piece else STRING_MARK


def join_statements(text: str, code: str) -> MaskedStatements:
    """Of a masked text: brackets and backslashes continue a statement."""
    if "\t" in code:
        code = LEADING_TABS.sub(lambda match: match[0].expandtabs(), code)
    if "\\" in code:
        code = code.replace("\\\n", CONTINUATION_MARKS)
    spans, broken = find_multiline_spans(code)
    if spans:
        lines = code.split("\n")
        for first, last in spans:
            lines[first - 1] = " ".join(lines[first - 1 : last])
            lines[first:last] = [""] * (last - first)
        code = "\n".join(lines).replace("\3", "").replace("\4", "")
    return MaskedStatements(f"\n{code}\n", dict(spans), text.split("\n"), broken or '"' in code or "'" in code or "\0" in text)


def find_multiline_spans(code: str) -> tuple[list[tuple[int, int]], bool]:
    """First and last line of each statement that has several, from 1, up to the first bracket without a partner, if any."""
    left = code.encode("utf-8", "replace").translate(None, NON_STRUCTURE_BYTES)
    for _ in range(MAX_PAIRING_ROUNDS):
        length = len(left)
        left = left.replace(b"()", b"").replace(b"[]", b"").replace(b"{}", b"")
        if length == len(left):
            break
    found: list[tuple[int, int]] = []
    expected: list[int] = []
    begin = 0
    for line, signs in enumerate(left.split(b"\n"), 1):
        for sign in signs:
            if sign in CLOSING_BYTE:
                begin = begin if expected else line
                expected.append(CLOSING_BYTE[sign])
            elif not expected or expected.pop() != sign:
                return found, True
            elif not expected and line > begin:
                # a bracket that opens where another closed goes on with the same statement
                first = found.pop()[0] if found and found[-1][1] == begin else begin
                found.append((first, line))
    return found, bool(expected)
