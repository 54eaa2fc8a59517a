"""Text cut to a number of tokens or bytes, in any script. Tokens by our own count, or three bytes each where that is more."""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from afresh.core.redaction import redact_secrets
from afresh.core.text import to_visible_json, to_visible_json_lines
from afresh.core.token_calibration import DEFAULT_TOKENS_PER_PIECE
from afresh.core.tokens import TOKEN_PIECE_PATTERN
from afresh.core.truncate import to_one_line, truncate_text

MIN_BYTES_PER_TOKEN = 3
"""Of a token, at least: so much it has in Latin and in Chinese text, and words that no vocabulary has come out longer."""
_QUOTES_TOKENS = 3
_MORE_LINE_TOKENS = 10
_SCANNED_CHARACTERS_PER_UNIT = 24
"""Tokens around an item of a list, of the line about those left out; characters looked at for each token or byte of room."""


def count_tokens(text: str) -> int:
    """Of a text as it stands in a file. Not by the cached count: what is cut here is seen once."""
    return max(
        int(len(TOKEN_PIECE_PATTERN.findall(text)) * DEFAULT_TOKENS_PER_PIECE) + 1, -(-len(text.encode()) // MIN_BYTES_PER_TOKEN)
    )


def truncate_to_tokens(text: str, room: int) -> str:
    """On one line, at most `room` tokens as a JSON string, its quotes not counted; room is 2 or more."""
    return _find_longest_prefix(
        to_one_line(redact_secrets(text[: _SCANNED_CHARACTERS_PER_UNIT * room]), MIN_BYTES_PER_TOKEN * room),
        room,
        _count_inner_tokens,
    )


def truncate_lines_to_tokens(text: str, room: int) -> str:
    """The same, with lines and blanks as they are: for a person's own words."""
    return _find_longest_prefix(
        truncate_text(redact_secrets(text[: _SCANNED_CHARACTERS_PER_UNIT * room]), MIN_BYTES_PER_TOKEN * room),
        room,
        _count_inner_tokens,
    )


def truncate_to_bytes(text: str, room: int) -> str:
    """On one line, at most `room` bytes as a JSON string, quotes included; room is 5 or more."""
    return _find_longest_prefix(
        to_one_line(redact_secrets(text[: _SCANNED_CHARACTERS_PER_UNIT * room]), room),
        room,
        lambda part: len(to_visible_json(part).encode()),
    )


def list_within_tokens(texts: Iterable[str], room: int, each: int) -> list[str]:
    """As many of them as have room, each cut to `each` tokens, and how many there are besides."""
    shown: list[str] = []
    all_of_them = list(texts)
    room -= _MORE_LINE_TOKENS
    for place, text in enumerate(all_of_them):
        line = truncate_to_tokens(text, each)
        room -= _count_inner_tokens(line) + _QUOTES_TOKENS
        if room < 0:
            return [*shown, f"and {len(all_of_them) - place:,} more"]
        shown.append(line)
    return shown


def _find_longest_prefix(text: str, room: int, size: Callable[[str], int]) -> str:
    """The longest beginning that fits."""
    if size(text) <= room:
        return text
    length = bisect_right(range(1, len(text)), room, key=lambda length: size(truncate_text(text, length)))
    return truncate_text(text, length) if length else "…"


def _count_inner_tokens(text: str) -> int:
    return count_tokens(to_visible_json(text)[1:-1])


def render_json_document(parts: Mapping[str, Any]) -> str:
    """Two levels are laid out in lines; what is deeper stands on the line of its item."""
    return "{\n" + ",\n".join(f"{to_visible_json(name)}: {_render_part(held)}" for name, held in parts.items()) + "\n}\n"


def _render_part(held: Any) -> str:
    if isinstance(held, Mapping):
        return to_visible_json_lines(held) if held else "{}"
    if isinstance(held, Sequence) and not isinstance(held, str):
        return "[\n" + ",\n".join(to_visible_json(item) for item in held) + "\n]" if held else "[]"
    return to_visible_json(held)
