"""The parts of a message, as the APIs of model providers shape them, made plain text."""

import json
from typing import Any

from afresh.replay.run import render_arguments


def to_mapping(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def to_list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def to_text(value: object) -> str:
    return value if isinstance(value, str) else ""


def render_content(content: object) -> str:
    """A string, or a list of blocks of which the written ones count; of others, such as images, the kind is told."""
    if isinstance(content, str):
        return content
    return "\n".join(filter(None, map(_render_block, to_list(content))))


def _render_block(block: object) -> str:
    if isinstance(block, str):
        return block
    held = to_mapping(block)
    if isinstance(held.get("text"), str):
        return held["text"]
    return f"[{to_text(held.get('type')) or 'unknown'}]" if held else ""


def render_written_arguments(arguments: object) -> str:
    """The arguments of a call as the agent wrote them; most providers give JSON in a string."""
    if not isinstance(arguments, str):
        return render_arguments(arguments)
    try:
        plain = json.loads(arguments, strict=False)
    except (ValueError, RecursionError):
        return arguments
    return render_arguments(plain) if isinstance(plain, dict | list) else arguments


def unwrap_object(value: object) -> dict[str, Any]:
    """An object, also one that was written into a string."""
    if not isinstance(value, str):
        return to_mapping(value)
    try:
        return to_mapping(json.loads(value, strict=False))
    except (ValueError, RecursionError):
        return {}
