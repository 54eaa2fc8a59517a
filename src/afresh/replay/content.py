"""The parts of a message, as the APIs of model providers shape them, made plain text."""

import json
from typing import Any

from afresh.replay.run import action_text


def mapping(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def listed(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def text(value: object) -> str:
    return value if isinstance(value, str) else ""


def content_text(content: object) -> str:
    """A string, or a list of blocks of which the written ones count; of others, such as images, the kind is told."""
    if isinstance(content, str):
        return content
    return "\n".join(filter(None, map(_block_text, listed(content))))


def _block_text(block: object) -> str:
    if isinstance(block, str):
        return block
    held = mapping(block)
    if isinstance(held.get("text"), str):
        return held["text"]
    return f"[{text(held.get('type')) or 'unknown'}]" if held else ""


def written(arguments: object) -> str:
    """The arguments of a call as the agent wrote them; most providers give JSON in a string."""
    if not isinstance(arguments, str):
        return action_text(arguments)
    try:
        plain = json.loads(arguments, strict=False)
    except (ValueError, RecursionError):
        return arguments
    return action_text(plain) if isinstance(plain, dict | list) else arguments


def unwrapped(value: object) -> dict[str, Any]:
    """An object, also one that was written into a string."""
    if not isinstance(value, str):
        return mapping(value)
    try:
        return mapping(json.loads(value, strict=False))
    except (ValueError, RecursionError):
        return {}
