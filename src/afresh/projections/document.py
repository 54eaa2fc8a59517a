"""JSON for people and for `diff`: fields in the order given, one item or field a line."""

from collections.abc import Mapping, Sequence
from typing import Any

from afresh.domain.text import to_visible_json, to_visible_json_lines


def render_json_document(parts: Mapping[str, Any]) -> str:
    """Two levels are laid out in lines; what is deeper stands on the line of its item."""
    return "{\n" + ",\n".join(f"{to_visible_json(name)}: {_render_part(held)}" for name, held in parts.items()) + "\n}\n"


def _render_part(held: Any) -> str:
    if isinstance(held, Mapping):
        return to_visible_json_lines(held) if held else "{}"
    if isinstance(held, Sequence) and not isinstance(held, str):
        return "[\n" + ",\n".join(to_visible_json(item) for item in held) + "\n]" if held else "[]"
    return to_visible_json(held)
