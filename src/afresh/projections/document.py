"""JSON for people and for `diff`: fields in the order given, one item or field a line."""

from collections.abc import Mapping, Sequence
from typing import Any

from afresh.domain.text import visible_json, visible_json_lines


def document(parts: Mapping[str, Any]) -> str:
    """Two levels are laid out in lines; what is deeper stands on the line of its item."""
    return "{\n" + ",\n".join(f"{visible_json(name)}: {_part(held)}" for name, held in parts.items()) + "\n}\n"


def _part(held: Any) -> str:
    if isinstance(held, Mapping):
        return visible_json_lines(held) if held else "{}"
    if isinstance(held, Sequence) and not isinstance(held, str):
        return "[\n" + ",\n".join(visible_json(item) for item in held) + "\n]" if held else "[]"
    return visible_json(held)
