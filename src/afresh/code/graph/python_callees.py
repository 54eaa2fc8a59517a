"""What a function, or the methods of a class, call."""

import ast
from collections.abc import Iterator

from afresh.code.graph.class_hierarchy import ClassMember, find_member, find_overriding_methods, find_place, is_property
from afresh.code.graph.implicit_calls import IMPLICIT_ROLES
from afresh.code.graph.inference_session import InferenceSession
from afresh.code.graph.inferred_values import ClassValue
from afresh.code.graph.python_callers import WAY_BY_ROLE, call_sort_key, can_accept_call, name_line_from_node
from afresh.code.graph.resolve_uses import DefinitionKey, UseMeaning, find_constructors, resolve_use
from afresh.code.graph.scopes import FunctionNode, NameUse, ScopedFile
from afresh.code.search_hit import SymbolUse, SymbolUses, UseKind
from afresh.core.symbol import SymbolKind, SymbolPlace

MAX_NAMED_METHODS = 4
"""A name that more methods than this have says nothing."""


def find_python_callees(world: InferenceSession, place: SymbolPlace) -> SymbolUses:
    file = world.file(place.path)
    found: dict[tuple[int, str, str, UseKind], SymbolUse] = {}
    for name, use in _list_uses_in(file, place.symbol.name) if file else ():
        for call in _resolve_calls(world, file, use, name) if file else ():
            key = (call.line, call.target.path, call.target.symbol.name, call.kind)
            if key not in found or call.sure:
                found[key] = call
    return SymbolUses(tuple(sorted(found.values(), key=call_sort_key)), 0, world.exhausted)


def _list_uses_in(file: ScopedFile, name: str) -> Iterator[tuple[str, NameUse]]:
    for spoken, uses in sorted(file.uses.items()):
        for use in uses:
            if use.scope.name == name or use.scope.name.startswith(f"{name}."):
                yield spoken, use


def _resolve_calls(world: InferenceSession, file: ScopedFile, use: NameUse, name: str) -> Iterator[SymbolUse]:
    """Only what may be a call or a handing on: an access means something if it is to a property."""
    way = WAY_BY_ROLE.get(use.role)
    if way is UseKind.IMPORT or (way is None and use.role not in ("receiver", "store")):
        return
    meant = resolve_use(world, use, name)
    line = name_line_from_node(use.node)

    def call(target: SymbolPlace, sure: bool, way: UseKind) -> SymbolUse:
        return SymbolUse(file.path, line, use.scope.name, file.line(line), sure, way, target)

    if use.role in ("call", "decorator") and not meant.defined:
        meant = _resolve_instance_call(world, use, meant)
    defined = _answering_definitions(world, use, meant)
    for key in sorted(defined):
        target = find_place(world, *key)
        how = UseKind.CALL if is_property_key(world, key) else way
        if target is not None and how is not None:
            yield call(target, not (meant.unknown and use.role in IMPLICIT_ROLES), how)
    for target in _other_candidates(world, use, meant, name):
        how = UseKind.CALL if is_property_key(world, (target.path, target.symbol.name)) else way
        if how is not None and (target.path, target.symbol.name) not in defined:
            yield call(target, False, how)


def _resolve_instance_call(world: InferenceSession, use: NameUse, meant: UseMeaning) -> UseMeaning:
    """Nothing of that name is a function: what is called may be an object."""
    inner = resolve_use(world, use._replace(role="implicit"), "__call__")
    return inner if inner.defined else meant


def _answering_definitions(world: InferenceSession, use: NameUse, meant: UseMeaning) -> set[DefinitionKey]:
    """Of a class that is called, its constructor, where it has one."""
    if use.role not in ("call", "decorator"):
        return meant.defined
    made = find_constructors(world, meant)
    plain = {(each.path, each.name) for each in meant.classes if not _find_constructor(world, each)}
    return (meant.defined - {(each.path, each.name) for each in meant.classes}) | made | plain


def _find_constructor(world: InferenceSession, of: ClassValue) -> ClassMember | None:
    return find_member(world, of, "__init__") or find_member(world, of, "__new__")


def is_property_key(world: InferenceSession, key: DefinitionKey) -> bool:
    owner, _, name = key[1].rpartition(".")
    has = find_member(world, ClassValue(key[0], owner), name) if owner and world.scope(key[0], owner) else None
    return bool(has and any(is_property(binding) for binding in has.functions))


def _other_candidates(world: InferenceSession, use: NameUse, meant: UseMeaning, name: str) -> Iterator[SymbolPlace]:
    """Those that may answer instead: in classes below the receiver's, or, where nothing is known of it, of that name at all."""
    for receiver in sorted(meant.receivers, key=lambda each: (each.path, each.name)):
        yield from find_overriding_methods(world, receiver, name)[:MAX_NAMED_METHODS]
    if not meant.unknown or meant.defined or not isinstance(use.node, ast.Attribute) or use.role in IMPLICIT_ROLES:
        return
    named = [
        place for place in world.code.defining(name) if place.symbol.kind is SymbolKind.METHOD and place.path in world.sources
    ]
    fitting = [place for place in named if _can_be_called(world, use, place)]
    if len(fitting) <= MAX_NAMED_METHODS:
        yield from fitting


def _can_be_called(world: InferenceSession, use: NameUse, place: SymbolPlace) -> bool:
    scope = world.scope(place.path, place.symbol.name)
    if scope is None or not isinstance(scope.node, FunctionNode):
        return False
    if is_property_key(world, (place.path, place.symbol.name)):
        return use.role not in ("call", "decorator")
    return use.call is not None and can_accept_call(use.call, scope.node.args, bound=True)
