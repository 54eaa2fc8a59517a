"""YAML as a tree of nodes. By libyaml where it is there: it takes a tenth of the time, but the stack overflows, and the process
with it, on text that is nested deeply enough. Such text, and what it refuses, is left to Python's own reader and its words."""

import re
from itertools import accumulate
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from yaml.nodes import Node

MAX_FAST_DEPTH = 60
_BRACKET_PATTERN = re.compile(r"[\[\]{}]")
_INDENT_PATTERN = re.compile(r"^[ \t?:-]*", re.MULTILINE)


def compose_yaml(text: str, loader: Literal["SafeLoader", "BaseLoader"] = "SafeLoader") -> "Node | None":
    """Nothing is constructed, so no tag can do anything. Raises whatever PyYAML does, RecursionError too."""
    import yaml

    quick = getattr(yaml, f"C{loader}", None)
    if quick and estimate_yaml_depth(text) <= MAX_FAST_DEPTH:
        try:
            return yaml.compose(text, Loader=quick)
        except yaml.YAMLError:
            pass
    return yaml.compose(text, Loader=getattr(yaml, loader))


def estimate_yaml_depth(text: str) -> int:
    """No less than the levels that it can have: a sign within words may count as one."""
    opened = accumulate(
        (1 if sign in "[{" else -1 for sign in _BRACKET_PATTERN.findall(text)), lambda now, step: max(0, now + step)
    )
    return max(opened, default=0) + max((len(indent) for indent in _INDENT_PATTERN.findall(text)), default=0)
