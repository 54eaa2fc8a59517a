"""What a function, or the methods of a class, call."""

import ast
from collections.abc import Iterator

from afresh.domain.calls import Call, Calls, Way
from afresh.domain.code import Kind, Place
from afresh.insight.graph.arity import fits
from afresh.insight.graph.callers import WAYS, line_of, sure_first
from afresh.insight.graph.classes import Member, find, is_property
from afresh.insight.graph.hierarchy import overriding, place_of
from afresh.insight.graph.implicit import UNWRITTEN
from afresh.insight.graph.meaning import Key, Meaning, constructors, meaning
from afresh.insight.graph.scopes import File, FunctionNode, Use
from afresh.insight.graph.values import Class
from afresh.insight.graph.world import World

CHOICE = 4
"""A name that more methods than this have says nothing."""


def callees(world: World, place: Place) -> Calls:
    file = world.file(place.path)
    found: dict[tuple[int, str, str, Way], Call] = {}
    for name, use in _uses_in(file, place.symbol.name) if file else ():
        for call in _called(world, file, use, name) if file else ():
            key = (call.line, call.target.path, call.target.symbol.name, call.kind)
            if key not in found or call.sure:
                found[key] = call
    return Calls(tuple(sorted(found.values(), key=sure_first)), 0, world.exhausted)


def _uses_in(file: File, name: str) -> Iterator[tuple[str, Use]]:
    for spoken, uses in sorted(file.uses.items()):
        for use in uses:
            if use.scope.name == name or use.scope.name.startswith(f"{name}."):
                yield spoken, use


def _called(world: World, file: File, use: Use, name: str) -> Iterator[Call]:
    """Only what may be a call or a handing on: an access means something if it is to a property."""
    way = WAYS.get(use.role)
    if way is Way.IMPORT or (way is None and use.role not in ("receiver", "store")):
        return
    meant = meaning(world, use, name)
    line = line_of(use.node)

    def call(target: Place, sure: bool, way: Way) -> Call:
        return Call(file.path, line, use.scope.name, file.line(line), sure, way, target)

    if use.role in ("call", "decorator") and not meant.defined:
        meant = _of_instance(world, use, meant)
    defined = _answering(world, use, meant)
    for key in sorted(defined):
        target = place_of(world, *key)
        how = Way.CALL if accessed(world, key) else way
        if target is not None and how is not None:
            yield call(target, not (meant.unknown and use.role in UNWRITTEN), how)
    for target in _others(world, use, meant, name):
        how = Way.CALL if accessed(world, (target.path, target.symbol.name)) else way
        if how is not None and (target.path, target.symbol.name) not in defined:
            yield call(target, False, how)


def _of_instance(world: World, use: Use, meant: Meaning) -> Meaning:
    """Nothing of that name is a function: what is called may be an object."""
    inner = meaning(world, use._replace(role="implicit"), "__call__")
    return inner if inner.defined else meant


def _answering(world: World, use: Use, meant: Meaning) -> set[Key]:
    """Of a class that is called, its constructor, where it has one."""
    if use.role not in ("call", "decorator"):
        return meant.defined
    made = constructors(world, meant)
    plain = {(each.path, each.name) for each in meant.classes if not _constructed(world, each)}
    return (meant.defined - {(each.path, each.name) for each in meant.classes}) | made | plain


def _constructed(world: World, of: Class) -> Member | None:
    return find(world, of, "__init__") or find(world, of, "__new__")


def accessed(world: World, key: Key) -> bool:
    owner, _, name = key[1].rpartition(".")
    has = find(world, Class(key[0], owner), name) if owner and world.scope(key[0], owner) else None
    return bool(has and any(is_property(binding) for binding in has.functions))


def _others(world: World, use: Use, meant: Meaning, name: str) -> Iterator[Place]:
    """Those that may answer instead: in classes below the receiver's, or, where nothing is known of it, of that name at all."""
    for receiver in sorted(meant.receivers, key=lambda each: (each.path, each.name)):
        yield from overriding(world, receiver, name)[:CHOICE]
    if not meant.unknown or meant.defined or not isinstance(use.node, ast.Attribute) or use.role in UNWRITTEN:
        return
    named = [place for place in world.code.defining(name) if place.symbol.kind is Kind.METHOD and place.path in world.sources]
    fitting = [place for place in named if _fits(world, use, place)]
    if len(fitting) <= CHOICE:
        yield from fitting


def _fits(world: World, use: Use, place: Place) -> bool:
    scope = world.scope(place.path, place.symbol.name)
    if scope is None or not isinstance(scope.node, FunctionNode):
        return False
    if accessed(world, (place.path, place.symbol.name)):
        return use.role not in ("call", "decorator")
    return use.call is not None and fits(use.call, scope.node.args, bound=True)
