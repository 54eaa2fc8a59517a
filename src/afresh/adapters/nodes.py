"""YAML as a tree of nodes. By libyaml where it is there: it takes a tenth of the time, but the stack overflows, and the process
with it, on text that is nested deeply enough. Such text, and what it refuses, is left to Python's own reader and its words."""

import re
from itertools import accumulate
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from yaml.nodes import Node

DEEPEST = 60
_brackets = re.compile(r"[\[\]{}]")
_indents = re.compile(r"^[ \t?:-]*", re.MULTILINE)


def compose(text: str, loader: Literal["SafeLoader", "BaseLoader"] = "SafeLoader") -> "Node | None":
    """Nothing is constructed, so no tag can do anything. Raises whatever PyYAML does, RecursionError too."""
    import yaml

    quick = getattr(yaml, f"C{loader}", None)
    if quick and depth(text) <= DEEPEST:
        try:
            return yaml.compose(text, Loader=quick)
        except yaml.YAMLError:
            pass
    return yaml.compose(text, Loader=getattr(yaml, loader))


def depth(text: str) -> int:
    """No less than the levels that it can have: a sign within words may count as one."""
    opened = accumulate((1 if sign in "[{" else -1 for sign in _brackets.findall(text)), lambda now, step: max(0, now + step))
    return max(opened, default=0) + max((len(indent) for indent in _indents.findall(text)), default=0)
