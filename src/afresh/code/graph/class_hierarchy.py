"""Resolves members along class hierarchies, and the return values of functions."""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from afresh.code.graph.inference_session import (
    NO_VALUES,
    UNKNOWN_VALUES,
    ClassValue,
    ExternalValue,
    FunctionValue,
    InferenceSession,
    InstanceValue,
    UnknownValue,
    Values,
    list_item_values,
    to_context_value,
    to_list_value,
)
from afresh.code.graph.resolve_annotations import resolve_annotation
from afresh.code.graph.scopes import FunctionNode, NameBinding, NameScope, last_name_from_node, list_decorator_names
from afresh.core.symbol import SymbolKind, SymbolPlace

Ancestor = ClassValue | ExternalValue | UnknownValue
ENUM_BASES = {"Enum", "IntEnum", "StrEnum", "Flag", "IntFlag"}


@dataclass(frozen=True, slots=True)
class ClassMember:
    """A member of a class, found in the class itself or in the first base class that has it."""

    owner: ClassValue
    bindings: tuple[NameBinding, ...]

    @property
    def functions(self) -> list[NameBinding]:
        return [binding for binding in self.bindings if binding.how == "def"]


def resolve_method_order(world: InferenceSession, of: ClassValue) -> tuple[Ancestor, ...]:
    """Return the method resolution order, this class first: depth first, each class after all of its subclasses."""
    if of in world.orders:
        return world.orders[of]
    world.orders[of] = (of, UnknownValue())
    bases = resolve_direct_bases(world, of)
    above = [each for base in bases for each in (resolve_method_order(world, base) if isinstance(base, ClassValue) else (base,))]
    world.orders[of] = (of, *reversed(dict.fromkeys(reversed(above))))
    return world.orders[of]


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
    """Return the member of the first class in order that has the name; `after` skips all classes up to this one."""
    line = resolve_method_order(world, of)
    if after is not None and after in line:
        line = line[line.index(after) + 1 :]
    for each in line:
        scope = world.scope(each.path, each.name) if isinstance(each, ClassValue) else None
        if isinstance(each, ClassValue) and scope and (bindings := (*scope.bound.get(name, ()), *scope.held.get(name, ()))):
            return ClassMember(each, bindings)
    return None


def has_unknown_members(world: InferenceSession, of: ClassValue) -> bool:
    """Whether the class may have members that no file of this tree defines."""
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
    """Return the values that `name` on the class, or on an instance of it, may have."""
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
    if binding.how == "annotation" and isinstance(node, ast.expr):
        return resolve_annotation(world, node, binding.scope)
    return world.bound(world, binding)


def resolve_return(world: InferenceSession, function: FunctionValue) -> Values:
    """Return the values that a call of the function returns: as annotated, otherwise from its `return` and `yield` statements."""
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
    if scope and isinstance(scope.node, FunctionNode) and "contextmanager" in "".join(list_decorator_names(scope.node)):
        found = to_context_value(found)
    world.given[function] = found
    return found


def _resolve_annotated_return(world: InferenceSession, scope: NameScope, note: ast.expr, function: FunctionValue) -> Values:
    """Return the annotated values; `Self`, or the type variable of the first parameter, means the receiver's class."""
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
    own: Values = frozenset({InstanceValue(on)}) if on else NO_VALUES
    return frozenset().union(*(own if own and _is_receiver(each, scope) else world.value(each, scope) for each in scope.returns))


def _is_receiver(node: ast.expr, scope: NameScope) -> bool:
    """Whether the expression is `self` or `cls()`: an instance of the receiver's class, which may be a subclass of the defining
    one.
    """
    made = node.func if isinstance(node, ast.Call) else node
    return isinstance(made, ast.Name) and made.id == scope.first


MAX_SUBCLASSES = 500
"""Subclasses of one class that are searched for."""


def find_all_subclasses(world: InferenceSession, of: ClassValue) -> list[ClassValue]:
    """Return every class that extends it, directly or indirectly, the nearest first."""
    found = [of]
    for each in found:
        if len(found) > MAX_SUBCLASSES:
            break
        found += [other for other in find_direct_subclasses(world, each) if other not in found]
    return found[1:]


def find_direct_subclasses(world: InferenceSession, of: ClassValue) -> Iterator[ClassValue]:
    short = of.name.rpartition(".")[2]
    names = {short, *find_import_aliases(world, short)}
    paths = sorted({path for name in names for path in world.code.mentioning(name) if path in world.sources})
    for path in paths:
        file = world.file(path)
        for name, scope in sorted(file.scopes.items()) if file else ():
            bases = getattr(scope.node, "bases", ())
            if any(
                last_name_from_node(getattr(base, "value", base)) in names or last_name_from_node(base) in names for base in bases
            ):
                other = ClassValue(path, name)
                if other != of and of in resolve_direct_bases(world, other):
                    yield other


def find_import_aliases(world: InferenceSession, name: str) -> set[str]:
    """Return other names under which files import it."""
    found: set[str] = set()
    for path in world.code.mentioning(name):
        if path in world.sources:
            found |= {here for one in world.code.reading(path).imports for there, here in one.names if there == name != here}
    return found


def find_place(world: InferenceSession, path: str, name: str) -> SymbolPlace | None:
    """Return the last symbol of that name in the file, which is the one that Python would use."""
    held = [symbol for symbol in world.code.reading(path).symbols if symbol.name == name] if path in world.sources else []
    return SymbolPlace(path, held[-1]) if held else None


def find_class_places(world: InferenceSession, classes: Sequence[ClassValue]) -> list[SymbolPlace]:
    found = (find_place(world, each.path, each.name) for each in classes)
    return [place for place in found if place is not None]


def list_ancestors(world: InferenceSession, of: ClassValue) -> list[ClassValue]:
    return [each for each in resolve_method_order(world, of)[1:] if isinstance(each, ClassValue)]


def owner_from_method(place: SymbolPlace) -> ClassValue | None:
    """Return the class of a method."""
    name = place.symbol.name.rpartition(".")[0]
    return ClassValue(place.path, name) if place.symbol.kind is SymbolKind.METHOD and name else None


def find_overriding_methods(world: InferenceSession, of: ClassValue, method: str) -> list[SymbolPlace]:
    """Return the methods of subclasses that override this one."""
    found: list[SymbolPlace] = []
    for each in find_all_subclasses(world, of):
        has = find_member(world, each, method)
        if has is not None and has.owner == each and has.functions:
            found += [place for place in [find_place(world, each.path, f"{each.name}.{method}")] if place is not None]
    return found
