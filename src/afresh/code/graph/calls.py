"""Finds who uses a symbol and what it calls: by type inference in Python, by name in other languages."""

import ast
from collections.abc import Iterator, Sequence

from afresh.code.caches import RecentAnswers
from afresh.code.graph.calls_by_name import find_callees_by_name, find_callers_by_name
from afresh.code.graph.class_hierarchy import (
    ClassMember,
    find_all_subclasses,
    find_class_places,
    find_member,
    find_overriding_methods,
    find_place,
    is_property,
    list_ancestors,
    owner_from_method,
)
from afresh.code.graph.evaluate import evaluate_expression
from afresh.code.graph.inference_session import ClassValue, InferenceSession
from afresh.code.graph.python_callers import WAY_BY_ROLE, call_sort_key, can_accept_call, name_line_from_node
from afresh.code.graph.python_callers import find_python_callers as callers_in_python
from afresh.code.graph.resolve_names import resolve_binding
from afresh.code.graph.resolve_uses import DefinitionKey, UseMeaning, find_constructors, resolve_use
from afresh.code.graph.scopes import IMPLICIT_ROLES, FunctionNode, NameUse, ScopedFile
from afresh.code.index.code_index import CodeIndex
from afresh.code.search_hit import SymbolUse, SymbolUses, UseKind
from afresh.core.symbol import SymbolKind, SymbolPlace

MAX_SEARCHED_FILES = 400
"""Files that one query may search."""


def find_callers(code: CodeIndex, place: SymbolPlace, most: int = MAX_SEARCHED_FILES) -> SymbolUses:
    """Return every use of a symbol: calls, decorators, imports, and where it is passed on. Python's functions and classes are
    resolved; constants and other languages are matched by name.
    """
    if code.reading(place.path).language != "python" or place.symbol.kind is SymbolKind.CONSTANT:
        return find_callers_by_name(code, place, most)
    return callers_in_python(start_inference(code), place, most)


def find_callees(code: CodeIndex, place: SymbolPlace) -> SymbolUses:
    """Return what a symbol calls within this tree; for a class, what its methods call. Other languages are matched by name."""
    if code.reading(place.path).language != "python":
        return find_callees_by_name(code, place)
    return find_python_callees(start_inference(code), place)


def find_base_classes(code: CodeIndex, place: SymbolPlace) -> Sequence[SymbolPlace]:
    """Return the classes of this tree that it extends, in method resolution order."""
    world = start_inference(code)
    return find_class_places(world, list_ancestors(world, ClassValue(place.path, place.symbol.name))) if is_class(place) else []


def find_subclasses(code: CodeIndex, place: SymbolPlace) -> Sequence[SymbolPlace]:
    """Return the classes of this tree that extend it, directly or indirectly, the nearest first."""
    world = start_inference(code)
    return (
        find_class_places(world, find_all_subclasses(world, ClassValue(place.path, place.symbol.name))) if is_class(place) else []
    )


def find_overrides(code: CodeIndex, place: SymbolPlace) -> Sequence[SymbolPlace]:
    """Return the methods of subclasses that override this one."""
    owner = owner_from_method(place)
    return find_overriding_methods(start_inference(code), owner, place.symbol.short) if owner else []


def is_class(place: SymbolPlace) -> bool:
    return place.symbol.kind in (SymbolKind.CLASS, SymbolKind.INTERFACE)


def start_inference(code: CodeIndex) -> InferenceSession:
    return InferenceSession(code, evaluate_expression, resolve_binding)


MAX_NAMED_METHODS = 4
"""A method name that more methods than this have is ambiguous and not matched."""


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
    """Yield the calls and passed references of one use. Attribute access counts only for properties."""
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
    """Return the `__call__` that is meant when the called value is an instance, otherwise `meant`."""
    inner = resolve_use(world, use._replace(role="implicit"), "__call__")
    return inner if inner.defined else meant


def _answering_definitions(world: InferenceSession, use: NameUse, meant: UseMeaning) -> set[DefinitionKey]:
    """Return the definitions that a use reaches; a called class is replaced by its constructor, if it has one."""
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
    """Yield definitions that may be called instead: overrides in subclasses of the receiver's class or, if the receiver is
    unknown, any method of that name.
    """
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


MAX_FILES_PER_ITEM = 40
MAX_CACHED_ANSWERS = 128
"""Limits: files searched for the callers of one item, and cached answers."""
_recent_calls: RecentAnswers[tuple[str, SymbolPlace], SymbolUses] = RecentAnswers(MAX_CACHED_ANSWERS)


def find_callers_cached(code: CodeIndex, place: SymbolPlace) -> SymbolUses:
    return _recent_calls.get_or_make((code.digest, place), lambda: find_callers(code, place, MAX_FILES_PER_ITEM))
