"""One YAML file as a flat sheet of checked values, each with its line. Only plain scalars, lists and mappings are understood, so
that a file of a repository can bring in nothing but words and numbers."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from afresh.adapters.nodes import compose_yaml
from afresh.adapters.templates.fault import FileFault, KeyPath, InvalidValue
from afresh.adapters.templates.values import TEMPLATE_SHAPE, MappingShape
from afresh.domain.text import to_one_line

if TYPE_CHECKING:
    from yaml.nodes import Node

MAX_YAML_BYTES = 32_000


@dataclass(frozen=True, slots=True)
class TemplateValue:
    held: Any
    file: str
    line: int


@dataclass(frozen=True, slots=True)
class TemplateFile:
    """What one file says: `("phases", "understand", "steps")` → 12. Flat, so that laying one over another is one union."""

    name: str
    origin: str
    file: str
    values: Mapping[KeyPath, TemplateValue] = field(default_factory=dict[KeyPath, TemplateValue])
    orders: Mapping[KeyPath, tuple[str, ...]] = field(default_factory=dict[KeyPath, tuple[str, ...]])
    """The sections in the order they are written, by the mapping they stand in."""
    faults: tuple[FileFault, ...] = ()


@lru_cache(maxsize=64)
def parse_template_file(name: str, origin: str, file: str, data: bytes) -> TemplateFile:
    """Never raises: what can't be read is a fault of the sheet. The same bytes are read once: runs ask often."""
    try:
        root = compose_checked_yaml(data)
        found = list(walk_mapping(root, (), TEMPLATE_SHAPE))
    except InvalidValue as wrong:
        return TemplateFile(name, origin, file, faults=(FileFault(file, wrong.line, "", wrong.what, wrong.next),))
    values: dict[KeyPath, TemplateValue] = {}
    orders: dict[KeyPath, tuple[str, ...]] = {}
    faults: list[FileFault] = []
    for key, line, held in found:
        if isinstance(held, InvalidValue):
            faults.append(FileFault(file, held.line, to_one_line(".".join(key), 120), held.what, held.next))
        elif key[-1:] == ("sections",):
            orders[key] = held
        else:
            values[key] = TemplateValue(held, file, line)
    return TemplateFile(name, origin, file, values, orders, tuple(faults))


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
