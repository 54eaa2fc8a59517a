"""Cuts text to a number of tokens or bytes, in any script. Tokens are our own count, or a third of the bytes if that is more."""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from afresh.core.redaction import redact_secrets
from afresh.core.text import to_visible_json, to_visible_json_lines
from afresh.core.token_calibration import DEFAULT_TOKENS_PER_PIECE
from afresh.core.tokens import TOKEN_PIECE_PATTERN
from afresh.core.truncate import to_one_line, truncate_text

MIN_BYTES_PER_TOKEN = 3
"""Minimum bytes per token. Latin and Chinese text have at least three; unknown words have more."""
_QUOTES_TOKENS = 3
_MORE_LINE_TOKENS = 10
_SCANNED_CHARACTERS_PER_UNIT = 24
"""Characters that are scanned for each token or byte of space."""


def count_tokens(text: str) -> int:
    """Count the tokens of a text in a file. Not cached, because each text is seen once."""
    return max(
        int(len(TOKEN_PIECE_PATTERN.findall(text)) * DEFAULT_TOKENS_PER_PIECE) + 1, -(-len(text.encode()) // MIN_BYTES_PER_TOKEN)
    )


def truncate_to_tokens(text: str, room: int) -> str:
    """Cut to one line of at most `room` tokens as a JSON string, without its quotes; `room` is at least 2."""
    return _find_longest_prefix(
        to_one_line(redact_secrets(text[: _SCANNED_CHARACTERS_PER_UNIT * room]), MIN_BYTES_PER_TOKEN * room),
        room,
        _count_inner_tokens,
    )


def truncate_lines_to_tokens(text: str, room: int) -> str:
    """Cut to `room` tokens, keeping line breaks and blanks, for a person's own words."""
    return _find_longest_prefix(
        truncate_text(redact_secrets(text[: _SCANNED_CHARACTERS_PER_UNIT * room]), MIN_BYTES_PER_TOKEN * room),
        room,
        _count_inner_tokens,
    )


def truncate_to_bytes(text: str, room: int) -> str:
    """Cut to one line of at most `room` bytes as a JSON string with quotes; `room` is at least 5."""
    return _find_longest_prefix(
        to_one_line(redact_secrets(text[: _SCANNED_CHARACTERS_PER_UNIT * room]), room),
        room,
        lambda part: len(to_visible_json(part).encode()),
    )


def list_within_tokens(texts: Iterable[str], room: int, each: int, count: int = 0) -> list[str]:
    """Return the texts that fit, each cut to `each` tokens, and a line with the number of the others. `count`: how many there
    are, if only the first ones are given; these must be more than fit."""
    shown: list[str] = []
    all_of_them = list(texts)
    count = max(count, len(all_of_them))
    room -= _MORE_LINE_TOKENS
    for place, text in enumerate(all_of_them):
        line = truncate_to_tokens(text, each)
        room -= _count_inner_tokens(line) + _QUOTES_TOKENS
        if room < 0:
            return [*shown, f"and {count - place:,} more"]
        shown.append(line)
    return shown


def _find_longest_prefix(text: str, room: int, size: Callable[[str], int]) -> str:
    """Return the longest prefix that fits."""
    if size(text) <= room:
        return text
    length = bisect_right(range(1, len(text)), room, key=lambda length: size(truncate_text(text, length)))
    return truncate_text(text, length) if length else "…"


def _count_inner_tokens(text: str) -> int:
    return count_tokens(to_visible_json(text)[1:-1])


def render_json_document(parts: Mapping[str, Any]) -> str:
    """Render JSON with two levels on separate lines; deeper values stay on their item's line."""
    return "{\n" + ",\n".join(f"{to_visible_json(name)}: {_render_part(part)}" for name, part in parts.items()) + "\n}\n"


def _render_part(value: Any) -> str:
    if isinstance(value, Mapping):
        return to_visible_json_lines(value) if value else "{}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "[\n" + ",\n".join(to_visible_json(item) for item in value) + "\n]" if value else "[]"
    return to_visible_json(value)
