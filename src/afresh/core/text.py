"""Counts, and text from repositories and models made safe to look at: nothing hidden, nothing that steers a terminal."""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

_HIDDEN_CHARACTERS = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls but for tab and newline
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"  # soft hyphen, joiners, fillers, Mongolian selectors
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb"  # zero width, bidi, separators
    "\ud800-\udfff"  # halves of pairs: no file can hold them
    "\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"  # format controls, tags
)
_HIDDEN_PATTERN = re.compile(f"[{_HIDDEN_CHARACTERS}]")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
DELETE = "\x7f"
"""The one control character in ASCII that JSON lets stand as it is."""
_encode_json = json.JSONEncoder(ensure_ascii=False).encode


def escape_hidden(text: str) -> str:
    """Control, bidi, zero-width and tag characters as escapes that one can see; tabs and newlines stay."""
    if text.isascii() and text.isprintable():
        return text
    return _HIDDEN_PATTERN.sub(_escape_character, text)


def find_similar_word(word: str, known: Iterable[str]) -> str:
    """The known word that was probably meant; empty if none is near."""
    from difflib import get_close_matches

    return next(iter(get_close_matches(word.lower(), [*known], n=1, cutoff=0.6)), "")


def format_count(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def number_line(number: int, line: str, changed: bool = False) -> str:
    """A line of a file as windows show it."""
    return f"{'+' if changed else ' '}{number:4d} {line}"


def to_visible_json(value: Any, indent: int | None = None, sort_keys: bool = False) -> str:
    """JSON that loses nothing: hidden characters stand in it as the escapes of JSON itself."""
    if indent is None and not sort_keys:
        text = _encode_json(value)
    else:
        text = json.dumps(value, ensure_ascii=False, indent=indent, sort_keys=sort_keys)
    return text if text.isascii() and DELETE not in text else _HIDDEN_PATTERN.sub(_escape_character_for_json, text)


def to_visible_json_lines(fields: Mapping[str, Any]) -> str:
    """The same, with a line for each field."""
    return "{\n" + ",\n".join(f" {to_visible_json(name)}: {to_visible_json(value)}" for name, value in fields.items()) + "\n}"


def _escape_character(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _escape_character_for_json(match: re.Match[str]) -> str:
    return json.dumps(match[0])[1:-1] if ord(match[0]) > 0x9F else f"\\u{ord(match[0]):04x}"


def is_encodable(text: str) -> bool:
    """Whether it holds no half of a surrogate pair, and no byte of a file name that is not UTF-8."""
    return text.isascii() or not _LONE_SURROGATE.search(text)


def read_foreign_json(text: str) -> Any:
    return replace_lone_surrogates(json.loads(text))


def replace_lone_surrogates(plain: Any) -> Any:
    """The same JSON value without halves of surrogate pairs: JSON can spell them, but no file or request can hold them."""
    if isinstance(plain, str):
        return plain if plain.isascii() else _LONE_SURROGATE.sub("\ufffd", plain)
    text = _encode_json(plain)
    return json.loads(_LONE_SURROGATE.sub("\ufffd", text)) if _LONE_SURROGATE.search(text) else plain


def compile_name_pattern(name: str) -> re.Pattern[str]:
    """The name as a whole: `load` is not in `reload`. Any other text as it stands."""
    before = r"(?<!\w)" if re.match(r"\w", name) else ""
    after = r"(?!\w)" if re.search(r"\w$", name) else ""
    return re.compile(before + re.escape(name) + after)
