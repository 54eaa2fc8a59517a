"""Which definitions one use of a name means."""

import ast
from dataclasses import dataclass, field

from afresh.insight.graph.classes import Member, find, member, open_ended
from afresh.insight.graph.implicit import UNWRITTEN
from afresh.insight.graph.names import imported, member_of_module
from afresh.insight.graph.scopes import Binding, FunctionNode, Use
from afresh.insight.graph.steps import called_member
from afresh.insight.graph.values import Above, Class, Function, Instance, Module, Unknown, Value, Values
from afresh.insight.graph.world import World

Key = tuple[str, str]
"""Path and qualified name."""


@dataclass(slots=True)
class Meaning:
    defined: set[Key] = field(default_factory=set)
    classes: set[Class] = field(default_factory=set)
    """Those among them that are classes."""
    receivers: set[Class] = field(default_factory=set)
    """Classes whose instances are asked for the name: a class below one may answer instead."""
    unknown: bool = False

    def take(self, values: Values) -> None:
        for value in values:
            if isinstance(value, Class | Function):
                self.defined.add((value.path, value.name))
            if isinstance(value, Class):
                self.classes.add(value)
            self.unknown |= isinstance(value, Unknown)


def meaning(world: World, use: Use, name: str) -> Meaning:
    found = Meaning()
    node = use.node
    if use.role in UNWRITTEN and isinstance(node, ast.expr):
        values = world.value(node, use.scope)
        for value in operands(world, use.role, values, name):
            ask(world, found, value, name)
        found.unknown |= Unknown() in values
    elif isinstance(node, ast.Attribute):
        for value in world.value(node.value, use.scope):
            ask(world, found, value, name)
    elif isinstance(node, ast.alias):
        for binding in use.scope.bound.get(node.asname or node.name, ()):
            if binding.how == "from" and binding.detail[2] == node.name:
                found.take(imported(world, binding))
    elif isinstance(node, ast.expr):
        found.take(world.value(node, use.scope))
    return found


def operands(world: World, role: str, values: Values, name: str) -> list[Instance]:
    """What an operator is applied to; `for` takes the next one from what `__iter__` gives, and `+=` adds only where there is no
    method of its own for it."""
    found = [value for value in values if isinstance(value, Instance)]
    if role == "iterated":
        found = [each for value in found for each in called_member(world, value.of, "__iter__") if isinstance(each, Instance)]
    elif role == "augmented":
        found = [value for value in found if find(world, value.of, name.replace("__", "__i", 1)) is None]
    return found


def ask(world: World, found: Meaning, value: Value, name: str) -> None:
    """Ask one receiver for a name."""
    match value:
        case Module():
            found.take(member_of_module(world, value.path, name))
        case Instance():
            of_class(world, found, value.of, name, None)
            found.receivers.add(value.of)
        case Class():
            of_class(world, found, value, name, None)
            found.receivers.add(value)
        case Above():
            of_class(world, found, value.on, name, value.of)
        case Unknown():
            found.unknown = True


def of_class(world: World, found: Meaning, of: Class, name: str, after: Class | None) -> None:
    has = find(world, of, name, after)
    if name == "__class__":
        found.take(frozenset({of}))
    elif has is None:
        found.unknown |= open_ended(world, of)
    elif has.functions:
        found.defined |= functions(has)
    else:
        known = Meaning()
        known.take(member(world, of, name, True, after))
        found.defined |= known.defined
        found.classes |= known.classes


def functions(has: Member) -> set[Key]:
    return {(has.owner.path, f"{has.owner.name}.{named(binding)}") for binding in has.functions}


def named(binding: Binding) -> str:
    return binding.node.name if isinstance(binding.node, FunctionNode) else ""


def constructors(world: World, found: Meaning) -> set[Key]:
    """The `__init__` and `__new__` that making an instance of these classes calls."""
    called: set[Key] = set()
    for each in found.classes:
        for name in ("__init__", "__new__", "__post_init__"):
            if (has := find(world, each, name)) is not None:
                called |= functions(has)
    return called
