"""YAML as a tree of nodes. By libyaml where it is there: it takes a tenth of the time, but the stack overflows, and the process
with it, on text that is nested deeply enough. Such text, and what it refuses, is left to Python's own reader and its words."""

import re
from collections.abc import Iterator
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Literal

from afresh.config.yaml_values import InvalidValue, KeyPath, MappingShape
from afresh.core.truncate import to_one_line

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


MAX_YAML_BYTES = 32_000


def compose_checked_yaml(data: bytes, begin: str = "begin with `extends: base`") -> "Node":
    """The tree of nodes: nothing is constructed, so no tag can do anything. `begin` is the advice for an empty one."""
    import yaml

    if len(data) > MAX_YAML_BYTES:
        raise InvalidValue(1, f"has {len(data):,} bytes, {MAX_YAML_BYTES:,} are allowed", "say it shorter")
    try:
        root = compose_yaml(data.decode("utf-8"))
    except UnicodeDecodeError as fault:
        raise InvalidValue(data[: fault.start].count(b"\n") + 1, "is not UTF-8", "save it as UTF-8") from None
    except RecursionError:
        raise InvalidValue(1, "is nested too deeply", "four levels are the most that anything needs") from None
    except (yaml.YAMLError, ValueError, OverflowError) as fault:
        raise value_error_from_yaml_error(fault, data) from None
    if root is None:
        raise InvalidValue(1, "is empty", begin)
    return root


def value_error_from_yaml_error(fault: Exception, data: bytes) -> InvalidValue:
    """PyYAML marks most errors with a line; for a character that YAML forbids it gives the position; for a number or an
    escape beyond all measure it lets Python's own error through."""
    mark = getattr(fault, "problem_mark", None)
    position = getattr(fault, "position", 0)
    line = mark.line if mark else data.decode("utf-8")[: position if isinstance(position, int) else 0].count("\n")
    said = getattr(fault, "problem", None) or getattr(fault, "reason", None) or "can't be read"
    return InvalidValue(line + 1, f"is not YAML: {said}", "mend the file")


def walk_mapping(node: "Node", at: KeyPath, shape: MappingShape) -> Iterator[tuple[KeyPath, int, Any]]:
    """Every value with its key and line; in place of one that can't be used, what is wrong with it."""
    from yaml.nodes import MappingNode

    line = node.start_mark.line + 1
    if not isinstance(node, MappingNode):
        yield at, line, InvalidValue(line, f"should be a mapping such as {shape.example}")
        return
    if at[-1:] == ("sections",):
        written = [key.value for key, _ in node.value if isinstance(key.value, str)]
        yield at, line, tuple(dict.fromkeys(name for name in written if name in shape.fields))
    seen: set[str] = set()
    for key, held in node.value:
        name = key.value if isinstance(key.value, str) else "?"
        where, place = (*at, name), key.start_mark.line + 1
        rule = shape.rule(name)
        if rule is None:
            yield where, place, InvalidValue(place, f"there is no {shape.noun} {to_one_line(name, 60)!r}", shape.advice(name))
        elif name in seen:
            yield where, place, InvalidValue(place, "is given twice", "take one of them out")
        elif isinstance(rule, MappingShape):
            yield from walk_mapping(held, where, rule)
        else:
            yield where, place, apply_value_rule(rule, held)
        seen.add(name)


def apply_value_rule(rule: Any, node: "Node") -> Any:
    try:
        return rule(node)
    except InvalidValue as wrong:
        return wrong
