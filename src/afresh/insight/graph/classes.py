"""Classes: in which order they are asked for a member, who has it, and what a function gives back."""

import ast
from dataclasses import dataclass

from afresh.insight.graph.annotations import resolve_annotation
from afresh.insight.graph.containers import list_item_values, to_context_value
from afresh.insight.graph.scopes import NameBinding, FunctionNode, NameScope, list_decorator_names
from afresh.insight.graph.values import (
    NO_VALUES,
    UNKNOWN_VALUES,
    ClassValue,
    FunctionValue,
    InstanceValue,
    ExternalValue,
    UnknownValue,
    Values,
    to_list_value,
)  # fmt: skip
from afresh.insight.graph.world import InferenceSession

Ancestor = ClassValue | ExternalValue | UnknownValue
ENUM_BASES = {"Enum", "IntEnum", "StrEnum", "Flag", "IntFlag"}


@dataclass(frozen=True, slots=True)
class ClassMember:
    """What a class, or the first one above it that has it, says of a name."""

    owner: ClassValue
    bindings: tuple[NameBinding, ...]

    @property
    def functions(self) -> list[NameBinding]:
        return [binding for binding in self.bindings if binding.how == "def"]


def resolve_method_order(world: InferenceSession, of: ClassValue) -> tuple[Ancestor, ...]:
    """In which classes are asked, this one first: as Python merges them, or depth first where that fails."""
    if of in world.orders:
        return world.orders[of]
    world.orders[of] = (of, UnknownValue())
    bases = resolve_direct_bases(world, of)
    lines: list[list[Ancestor]] = [
        list(resolve_method_order(world, base)) if isinstance(base, ClassValue) else [base] for base in bases
    ]
    world.orders[of] = (of, *merge_method_orders([*lines, list(bases)]))
    return world.orders[of]


def merge_method_orders(lines: list[list[Ancestor]]) -> list[Ancestor]:
    found: list[Ancestor] = []
    while lines := [line for line in lines if line]:
        heads = [line[0] for line in lines]
        free = [head for head in heads if not any(head in line[1:] for line in lines)]
        chosen = free[0] if free else heads[0]
        if chosen not in found:
            found.append(chosen)
        lines = [line[1:] if line[0] == chosen else line for line in lines]
    return found


def resolve_direct_bases(world: InferenceSession, of: ClassValue) -> list[Ancestor]:
    scope = world.scope(of.path, of.name)
    if scope is None or not isinstance(scope.node, ast.ClassDef) or scope.around is None:
        return [UnknownValue()]
    found: list[Ancestor] = []
    for base in scope.node.bases:
        values = [value for value in world.value(base, scope.around) if value != of]
        known = sorted((value for value in values if isinstance(value, ClassValue)), key=lambda each: (each.path, each.name))
        found += known or [next((value for value in values if isinstance(value, ExternalValue)), UnknownValue())]
    return [each for at, each in enumerate(found) if each not in found[:at]]


def find_member(world: InferenceSession, of: ClassValue, name: str, after: ClassValue | None = None) -> ClassMember | None:
    """The first class in order that has the name; `after` leaves out those up to this one."""
    line = resolve_method_order(world, of)
    if after is not None and after in line:
        line = line[line.index(after) + 1 :]
    for each in line:
        scope = world.scope(each.path, each.name) if isinstance(each, ClassValue) else None
        if isinstance(each, ClassValue) and scope and (bindings := (*scope.bound.get(name, ()), *scope.held.get(name, ()))):
            return ClassMember(each, bindings)
    return None


def has_unknown_members(world: InferenceSession, of: ClassValue) -> bool:
    """Whether it may have members that no file of this tree shows."""
    line = resolve_method_order(world, of)
    strange = [each for each in line if not isinstance(each, ClassValue) and each not in MEMBERLESS_BASES]
    return bool(strange) or find_member(world, of, "__getattr__") is not None


MEMBERLESS_BASES = {
    ExternalValue(name)
    for name in ("builtins.object", "abc.ABC", "typing.Generic", "typing.Protocol", "typing.NamedTuple", "builtins.Exception")
}


def is_enum(world: InferenceSession, of: ClassValue) -> bool:
    return any(
        isinstance(each, ExternalValue) and each.name.rpartition(".")[2] in ENUM_BASES for each in resolve_method_order(world, of)
    )


def is_property(binding: NameBinding) -> bool:
    node = binding.node
    if not isinstance(node, FunctionNode):
        return False
    return any(name.endswith("property") or name in ("setter", "getter", "deleter") for name in list_decorator_names(node))


def resolve_member(world: InferenceSession, of: ClassValue, name: str, instance: bool, after: ClassValue | None = None) -> Values:
    """What `name` on the class, or on an instance of it, may stand for."""
    if name == "__class__" and instance:
        return frozenset({of})
    found = find_member(world, of, name, after)
    if found is None:
        return UNKNOWN_VALUES if has_unknown_members(world, of) else NO_VALUES
    values: set = set()
    for binding in found.bindings:
        values |= _resolve_member_binding(world, found.owner, binding, of, instance)
    return frozenset(values)


def _resolve_member_binding(
    world: InferenceSession, owner: ClassValue, binding: NameBinding, on: ClassValue, instance: bool
) -> Values:
    node = binding.node
    if binding.how == "def" and isinstance(node, FunctionNode):
        function = FunctionValue(owner.path, f"{owner.name}.{node.name}", on)
        return resolve_return(world, function) if instance and is_property(binding) else frozenset({function})
    if binding.how == "class" and isinstance(node, ast.ClassDef):
        return frozenset({ClassValue(owner.path, f"{owner.name}.{node.name}")})
    if binding.how == "value" and not instance and binding.scope.kind == "class" and is_enum(world, on):
        return frozenset({InstanceValue(on)})
    if binding.how == "note" and isinstance(node, ast.expr):
        return resolve_annotation(world, node, binding.scope)
    return world.bound(world, binding)


def resolve_return(world: InferenceSession, function: FunctionValue) -> Values:
    """What a call of it gives: as annotated, or else as its `return` and `yield` say."""
    if function in world.given:
        return world.given[function]
    world.given[function] = NO_VALUES
    scope = world.scope(function.path, function.name)
    if scope is None or not isinstance(scope.node, FunctionNode):
        found = UNKNOWN_VALUES
    elif scope.node.returns is not None:
        found = _resolve_annotated_return(world, scope, scope.node.returns, function)
    else:
        found = _resolve_written_return(world, scope, function.on)
    if (
        scope is not None
        and isinstance(scope.node, FunctionNode)
        and "contextmanager" in "".join(list_decorator_names(scope.node))
    ):
        found = to_context_value(found)
    world.given[function] = found
    return found


def _resolve_annotated_return(world: InferenceSession, scope: NameScope, note: ast.expr, function: FunctionValue) -> Values:
    """`Self`, or the type variable of the first parameter, is the class of the receiver."""
    owner = function.on or (ClassValue(scope.path, scope.around.name) if scope.around and scope.around.kind == "class" else None)
    words = ast.unparse(note).strip("'\"")
    if owner is not None and isinstance(scope.node, FunctionNode):
        first = next(iter([*scope.node.args.posonlyargs, *scope.node.args.args]), None)
        own = ast.unparse(first.annotation).strip("'\"") if first is not None and first.annotation is not None else ""
        if words in ("Self", "t.Self", "typing.Self", "te.Self") or (own and words == own):
            return frozenset({InstanceValue(owner)})
    return resolve_annotation(world, note, scope.around or scope)


def _resolve_written_return(world: InferenceSession, scope: NameScope, on: ClassValue | None) -> Values:
    if scope.yields:
        given: set = set()
        for node, onward in scope.yields:
            value = world.value(node, scope)
            given |= NO_VALUES.union(*map(list_item_values, value)) if onward else value
        return to_list_value(frozenset(given))
    return frozenset().union(*(_resolve_returned_node(world, each, scope, on) for each in scope.returns))


def _resolve_returned_node(world: InferenceSession, node: ast.expr, scope: NameScope, on: ClassValue | None) -> Values:
    """`return self` and `return cls()` give what the receiver is, which may be of a class below."""
    made = node.func if isinstance(node, ast.Call) else node
    if on is not None and isinstance(made, ast.Name) and made.id == scope.first:
        return frozenset({InstanceValue(on)})
    return world.value(node, scope)
