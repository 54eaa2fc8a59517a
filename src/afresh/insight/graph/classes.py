"""Classes: in which order they are asked for a member, who has it, and what a function gives back."""

import ast
from dataclasses import dataclass

from afresh.insight.graph.annotations import annotated
from afresh.insight.graph.containers import items, made_context
from afresh.insight.graph.scopes import Binding, FunctionNode, Scope, decorations
from afresh.insight.graph.values import (
    NOTHING,
    UNKNOWN,
    Class,
    Function,
    Instance,
    Outside,
    Unknown,
    Values,
    listed,
)  # fmt: skip
from afresh.insight.graph.world import World

Ancestor = Class | Outside | Unknown
ENUMS = {"Enum", "IntEnum", "StrEnum", "Flag", "IntFlag"}


@dataclass(frozen=True, slots=True)
class Member:
    """What a class, or the first one above it that has it, says of a name."""

    owner: Class
    bindings: tuple[Binding, ...]

    @property
    def functions(self) -> list[Binding]:
        return [binding for binding in self.bindings if binding.how == "def"]


def order(world: World, of: Class) -> tuple[Ancestor, ...]:
    """In which classes are asked, this one first: as Python merges them, or depth first where that fails."""
    if of in world.orders:
        return world.orders[of]
    world.orders[of] = (of, Unknown())
    bases = direct_bases(world, of)
    lines: list[list[Ancestor]] = [list(order(world, base)) if isinstance(base, Class) else [base] for base in bases]
    world.orders[of] = (of, *merged([*lines, list(bases)]))
    return world.orders[of]


def merged(lines: list[list[Ancestor]]) -> list[Ancestor]:
    found: list[Ancestor] = []
    while lines := [line for line in lines if line]:
        heads = [line[0] for line in lines]
        free = [head for head in heads if not any(head in line[1:] for line in lines)]
        chosen = free[0] if free else heads[0]
        if chosen not in found:
            found.append(chosen)
        lines = [line[1:] if line[0] == chosen else line for line in lines]
    return found


def direct_bases(world: World, of: Class) -> list[Ancestor]:
    scope = world.scope(of.path, of.name)
    if scope is None or not isinstance(scope.node, ast.ClassDef) or scope.around is None:
        return [Unknown()]
    found: list[Ancestor] = []
    for base in scope.node.bases:
        values = [value for value in world.value(base, scope.around) if value != of]
        known = sorted((value for value in values if isinstance(value, Class)), key=lambda each: (each.path, each.name))
        found += known or [next((value for value in values if isinstance(value, Outside)), Unknown())]
    return [each for at, each in enumerate(found) if each not in found[:at]]


def find(world: World, of: Class, name: str, after: Class | None = None) -> Member | None:
    """The first class in order that has the name; `after` leaves out those up to this one."""
    line = order(world, of)
    if after is not None and after in line:
        line = line[line.index(after) + 1 :]
    for each in line:
        scope = world.scope(each.path, each.name) if isinstance(each, Class) else None
        if isinstance(each, Class) and scope and (bindings := (*scope.bound.get(name, ()), *scope.held.get(name, ()))):
            return Member(each, bindings)
    return None


def open_ended(world: World, of: Class) -> bool:
    """Whether it may have members that no file of this tree shows."""
    line = order(world, of)
    strange = [each for each in line if not isinstance(each, Class) and each not in HARMLESS]
    return bool(strange) or find(world, of, "__getattr__") is not None


HARMLESS = {
    Outside(name)
    for name in ("builtins.object", "abc.ABC", "typing.Generic", "typing.Protocol", "typing.NamedTuple", "builtins.Exception")
}


def is_enum(world: World, of: Class) -> bool:
    return any(isinstance(each, Outside) and each.name.rpartition(".")[2] in ENUMS for each in order(world, of))


def is_property(binding: Binding) -> bool:
    node = binding.node
    if not isinstance(node, FunctionNode):
        return False
    return any(name.endswith("property") or name in ("setter", "getter", "deleter") for name in decorations(node))


def member(world: World, of: Class, name: str, instance: bool, after: Class | None = None) -> Values:
    """What `name` on the class, or on an instance of it, may stand for."""
    if name == "__class__" and instance:
        return frozenset({of})
    found = find(world, of, name, after)
    if found is None:
        return UNKNOWN if open_ended(world, of) else NOTHING
    values: set = set()
    for binding in found.bindings:
        values |= _held(world, found.owner, binding, of, instance)
    return frozenset(values)


def _held(world: World, owner: Class, binding: Binding, on: Class, instance: bool) -> Values:
    node = binding.node
    if binding.how == "def" and isinstance(node, FunctionNode):
        function = Function(owner.path, f"{owner.name}.{node.name}", on)
        return returned(world, function) if instance and is_property(binding) else frozenset({function})
    if binding.how == "class" and isinstance(node, ast.ClassDef):
        return frozenset({Class(owner.path, f"{owner.name}.{node.name}")})
    if binding.how == "value" and not instance and binding.scope.kind == "class" and is_enum(world, on):
        return frozenset({Instance(on)})
    if binding.how == "note" and isinstance(node, ast.expr):
        return annotated(world, node, binding.scope)
    return world.bound(world, binding)


def returned(world: World, function: Function) -> Values:
    """What a call of it gives: as annotated, or else as its `return` and `yield` say."""
    if function in world.given:
        return world.given[function]
    world.given[function] = NOTHING
    scope = world.scope(function.path, function.name)
    if scope is None or not isinstance(scope.node, FunctionNode):
        found = UNKNOWN
    elif scope.node.returns is not None:
        found = _as_annotated(world, scope, scope.node.returns, function)
    else:
        found = _as_written(world, scope, function.on)
    if scope is not None and isinstance(scope.node, FunctionNode) and "contextmanager" in "".join(decorations(scope.node)):
        found = made_context(found)
    world.given[function] = found
    return found


def _as_annotated(world: World, scope: Scope, note: ast.expr, function: Function) -> Values:
    """`Self`, or the type variable of the first parameter, is the class of the receiver."""
    owner = function.on or (Class(scope.path, scope.around.name) if scope.around and scope.around.kind == "class" else None)
    words = ast.unparse(note).strip("'\"")
    if owner is not None and isinstance(scope.node, FunctionNode):
        first = next(iter([*scope.node.args.posonlyargs, *scope.node.args.args]), None)
        own = ast.unparse(first.annotation).strip("'\"") if first is not None and first.annotation is not None else ""
        if words in ("Self", "t.Self", "typing.Self", "te.Self") or (own and words == own):
            return frozenset({Instance(owner)})
    return annotated(world, note, scope.around or scope)


def _as_written(world: World, scope: Scope, on: Class | None) -> Values:
    if scope.yields:
        given: set = set()
        for node, onward in scope.yields:
            value = world.value(node, scope)
            given |= NOTHING.union(*map(items, value)) if onward else value
        return listed(frozenset(given))
    return frozenset().union(*(_given_back(world, each, scope, on) for each in scope.returns))


def _given_back(world: World, node: ast.expr, scope: Scope, on: Class | None) -> Values:
    """`return self` and `return cls()` give what the receiver is, which may be of a class below."""
    made = node.func if isinstance(node, ast.Call) else node
    if on is not None and isinstance(made, ast.Name) and made.id == scope.first:
        return frozenset({Instance(on)})
    return world.value(node, scope)
