"""Python source as text: masks strings and comments, joins statements, reads signatures and docstrings."""

import ast
import itertools
import re
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from keyword import iskeyword, kwlist

from afresh.core.text import replace_lone_surrogates

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
"""These replace a string of one line, and one of several lines."""
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
"""A string inside an f-string field; its closing quote may be missing where another field begins."""
FORMAT_SPEC = re.compile(r"![rsa](?=:|$)|:[^\])]*$")
"""Conversion and format of an f-string field; the colon of a slice is followed by a bracket."""
LEADING_TABS = re.compile(r"^ *\t[ \t]*", re.MULTILINE)
NON_STRUCTURE_BYTES = bytes(sign for sign in range(256) if sign not in b"()[]{}\n\1\2\3\4")
CLOSING_BYTE = {40: 41, 91: 93, 123: 125, 1: 2, 3: 4}
MAX_PAIRING_ROUNDS = 200
"""Rounds that each remove bracket pairs with nothing between them; Python allows no deeper nesting."""


@dataclass(frozen=True, slots=True)
class MaskedSource:
    code: str
    """The text without comments, with marks for strings and the same line numbers."""
    pieces: list[str]
    """Comments and strings, in order."""
    fields: list[str]
    """Code inside f-strings."""

    def identifiers(self) -> Counter[str]:
        """Return the identifiers of the code with their counts."""
        code = STRING_MARK.join([self.code, *self.fields])
        if not code.isascii():
            return Counter(name for name in IDENTIFIER.findall(code) if name not in KEYWORDS)
        words = Counter(ASCII_WORD.findall(code.encode()))
        named = ((word.decode(), count) for word, count in words.items() if word[0] > NINE_BYTE)
        return Counter({name: count for name, count in named if name not in KEYWORDS})

    def prose(self) -> Counter[str]:
        """Return the words of comments and strings with their counts."""
        return Counter(PROSE_WORD.findall("\n".join(self.pieces)))


@dataclass(frozen=True, slots=True)
class MaskedStatements:
    code: str
    """One line per statement, and an empty line for each line that continues it; begins and ends with a newline."""
    ends: dict[int, int]
    """Last line by first line, for statements of several lines."""
    lines: list[str]
    """The lines of the original text."""
    broken: bool
    """Whether a bracket or a quote is unmatched."""

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
    """Join the lines of statements that brackets and backslashes continue, in a masked text."""
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
    """Return first and last line (from 1) of each statement of several lines, up to the first unmatched bracket, and whether
    there is one.
    """
    left = code.encode().translate(None, NON_STRUCTURE_BYTES)
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
                # a bracket that opens on the line where another closed continues the same statement
                first = found.pop()[0] if found and found[-1][1] == begin else begin
                found.append((first, line))
    return found, bool(expected)


MAX_ASSIGNMENT_CHARACTERS = 160
MAX_BRACKET_DEPTH = 50
"""Limits of an assignment whose names are read: characters, and nested brackets."""
LOOSE_SPACE = re.compile(r"(?<=[(\[{]) |,? (?=\))| (?=[\]}])")
INNERMOST_BRACKETS = re.compile(r"\([^()\[\]{}]*\)|\[[^()\[\]{}]*\]|\{[^()\[\]{}]*\}")
ASSIGNMENT_SIGN = re.compile(r"(?<![=!<>:+\-*/%&|^@])=(?!=)")
KEYWORD_ARGUMENT = re.compile(r"\*\*|\w+ *=(?!=)")
BRACKET_OR_SPLIT = re.compile(r"[()\[\]{},:]")
DOCSTRING = re.compile(r"\s*[rRuU]?(\"\"\"|'''|\"|')([^\\]*)\1\s*", re.DOTALL)


def tidy_source(source: str) -> str:
    """Return the source on one line, without comments."""
    code, strings = _mask_strings(source)
    return _restore_strings(collapse_code_whitespace(code.replace("\\\n", " ")), strings)


def extract_header(source: str) -> str:
    """Return the header at the start of a text, up to its colon, on one line."""
    code, strings = _mask_strings(source)
    colon = next(_find_outside_brackets(code, ":"), len(code))
    return _restore_strings(collapse_code_whitespace(code[:colon].replace("\\\n", " ")), strings)


def list_base_classes(signature: str) -> tuple[str, ...]:
    """Return the base classes of a class, as written."""
    code, strings = _mask_strings(signature)
    inside = code.partition("(")[2].rpartition(")")[0]
    if not inside.strip():
        return ()
    cuts = [-1, *_find_outside_brackets(inside, ","), len(inside)]
    parts = [inside[begin + 1 : end].strip() for begin, end in itertools.pairwise(cuts)]
    left = iter(strings)
    return tuple(whole for part in parts if (whole := _restore_strings(part, left)) and not KEYWORD_ARGUMENT.match(part))


def list_bound_names(target: str) -> list[str]:
    """Return the names that an assignment target binds; attributes and subscripts bind none."""
    bare = target.strip().strip("()[]")
    return [name for part in bare.split(",") if (name := part.strip()).isidentifier() and not iskeyword(name)]


def list_chained_names(rest: str) -> list[str]:
    """Return the names after the first `=` of a masked assignment that are bound, too: `a = b = 1`."""
    if "=" not in rest:
        return []
    for _ in range(MAX_BRACKET_DEPTH):
        if not any(sign in rest for sign in "([{"):
            break
        rest = INNERMOST_BRACKETS.sub("", rest)
    targets = ASSIGNMENT_SIGN.split(rest)
    return [name for target in targets[:-1] if not target.strip().startswith("lambda") for name in list_bound_names(target)]


def extract_doc_line(source: str) -> str:
    """Return the first line of a docstring."""
    match = DOCSTRING.fullmatch(source)
    if match and match[1] not in match[2]:
        return match[2].strip().partition("\n")[0].expandtabs().strip()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value = ast.literal_eval(source.strip())
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    return replace_lone_surrogates(value).strip().partition("\n")[0].expandtabs().strip() if isinstance(value, str) else ""


def collapse_code_whitespace(code: str) -> str:
    code = code.strip() if "  " not in code and "\n" not in code else " ".join(code.split())
    return LOOSE_SPACE.sub("", code) if "( " in code or " )" in code or "[ " in code or "{ " in code else code


def truncate_assignment(text: str) -> str:
    return text if len(text) <= MAX_ASSIGNMENT_CHARACTERS else text[: MAX_ASSIGNMENT_CHARACTERS - 1] + "…"


def _find_outside_brackets(code: str, sign: str) -> Iterator[int]:
    depth = 0
    for match in BRACKET_OR_SPLIT.finditer(code):
        if match[0] == sign and not depth:
            yield match.start()
        depth += (match[0] in "([{") - (match[0] in ")]}")


def _mask_strings(source: str) -> tuple[str, Sequence[str]]:
    source = source.replace(STRING_MARK, "")
    if not ('"' in source or "'" in source or "#" in source):
        return source, ()
    strings: list[str] = []
    code = STRING_OR_COMMENT.sub(lambda match: "" if match[0][0] == "#" else strings.append(match[0]) or STRING_MARK, source)
    return code, strings


def _restore_strings(code: str, strings: Sequence[str] | Iterator[str]) -> str:
    if STRING_MARK not in code:
        return code
    left = iter(strings)
    return re.sub(STRING_MARK, lambda _: next(left).replace("\\\n", "").replace("\n", "\\n"), code)
