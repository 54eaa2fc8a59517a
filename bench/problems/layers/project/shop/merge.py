"""Layers of settings, one over the other."""

from collections.abc import Mapping
from typing import Any

Tree = Mapping[str, Any]


def merged(lower: Tree, upper: Tree) -> dict[str, Any]:
    """What the upper layer says goes; tables are merged, all else is replaced. Neither layer is changed."""
    made = dict(lower)
    for name, value in upper.items():
        below = made.get(name)
        made[name] = merged(below, value) if isinstance(below, Mapping) and isinstance(value, Mapping) else value
    return made
