"""Who uses a symbol of Python."""

import ast
from collections.abc import Iterator
from dataclasses import replace

from afresh.domain.calls import Call, Calls, Way
from afresh.domain.code import Place
from afresh.insight.graph.arity import fits
from afresh.insight.graph.classes import order
from afresh.insight.graph.implicit import UNWRITTEN
from afresh.insight.graph.meaning import Meaning, constructors, meaning
from afresh.insight.graph.scopes import File, Scope, Use
from afresh.insight.graph.target import ROUNDS, Target, candidates, spoken, target_of
from afresh.insight.graph.world import World

WAYS = {
    "call": Way.CALL,
    "implicit": Way.CALL,
    "iterated": Way.CALL,
    "augmented": Way.CALL,
    "decorator": Way.DECORATOR,
    "passed": Way.PASSED,
    "argument": Way.PASSED,
    "import": Way.IMPORT,
}
ACCESS = {"passed", "argument", "receiver", "store"}


def callers(world: World, place: Place, most: int) -> Calls:
    target = target_of(world, place)
    found: dict[tuple[str, int, Way], Call] = {}
    seen: set[tuple[str, str]] = set()
    unread = 0
    for _ in range(ROUNDS):
        paths, unread = candidates(world, target, most)
        for path in paths:
            file = world.file(path)
            for call in _uses(world, target, file, seen) if file else ():
                kept = found.get((call.path, call.line, call.kind))
                if kept is None or (call.sure and not kept.sure):
                    found[call.path, call.line, call.kind] = call
            world.release()
        names = spoken(world, target.names)
        if names <= target.names:
            break
        target = replace(target, names=frozenset(names))
    return Calls(tuple(sorted(found.values(), key=sure_first)), unread, world.exhausted)


def sure_first(call: Call) -> tuple[bool, str, int, str]:
    return not call.sure, call.path, call.line, call.kind


def _uses(world: World, target: Target, file: File, seen: set[tuple[str, str]]) -> Iterator[Call]:
    inside = target.inside if _defines_kin(target, file) else frozenset()
    local = {other for name in target.names for other in file.local.get(name, ())}
    for name in sorted(file.uses if target.short == "__call__" else target.names | inside | local):
        if (file.path, name) in seen:
            continue
        seen.add((file.path, name))
        for use in file.uses.get(name, ()):
            if (judged := _judged(world, target, use, name)) is not None:
                line = line_of(use.node)
                yield Call(file.path, line, use.scope.name, file.line(line), judged[1], judged[0], target.place)


def _defines_kin(target: Target, file: File) -> bool:
    return file.path == target.place.path or any(
        name.rpartition(".")[2] in target.names and isinstance(scope.node, ast.ClassDef) for name, scope in file.scopes.items()
    )


def line_of(node: ast.AST) -> int:
    """Of the name itself, which ends an attribute."""
    return (node.end_lineno or 0) if isinstance(node, ast.Attribute) else getattr(node, "lineno", 0)


def _judged(world: World, target: Target, use: Use, name: str) -> tuple[Way, bool] | None:
    """How it is used and whether that is sure; nothing if this is somebody else of the same name."""
    way = way_of(target, use)
    if way is None or (name in target.inside and way is not Way.CALL):
        return None
    if target.short == "__call__" and use.role in ("call", "decorator") and name != "__call__":
        return (way, True) if _calls_instance(world, target, use) else None
    meant = meaning(world, use, name)
    defined = meant.defined
    if target.made and use.role in ("call", "decorator"):
        defined = defined | constructors(world, meant)
    if target.key in defined:
        # operators take anything, so that what else it may be counts against it
        return way, not (meant.unknown and use.role in UNWRITTEN)
    if _may_be_overridden(world, target, meant) or (meant.unknown and not meant.defined and _plausible(target, use, name)):
        return way, False
    return None


def way_of(target: Target, use: Use) -> Way | None:
    if target.accessed:
        return Way.CALL if use.role in ACCESS else None
    if target.made and use.role not in ("call", "decorator"):
        return None
    return WAYS.get(use.role)


def _calls_instance(world: World, target: Target, use: Use) -> bool:
    return target.key in meaning(world, use._replace(role="implicit"), "__call__").defined


def _may_be_overridden(world: World, target: Target, meant: Meaning) -> bool:
    """The receiver's class is above the target's own, so that the target may answer in its place."""
    return target.owner is not None and any(
        each != target.owner and each in order(world, target.owner)[1:] for each in meant.receivers
    )


def _plausible(target: Target, use: Use, name: str) -> bool:
    """Nothing but the name is known: then it must be said of an object if it is a method, stand alone if it is not, and a call
    must fit the parameters."""
    if use.role in (*UNWRITTEN, "import") or target.implicit or target.made or name != target.short:
        return False
    if isinstance(use.node, ast.Attribute) != (target.owner is not None) or _is_bound(use, name):
        return False
    if use.role == "passed" and not target.accessed:
        return False
    if use.call is None or target.arguments is None:
        return True
    return fits(use.call, target.arguments, bound=target.owner is not None)


def _is_bound(use: Use, name: str) -> bool:
    """A name that stands alone and is bound where it stands means just that, whatever it is."""
    scope: Scope | None = use.scope
    while scope is not None and isinstance(use.node, ast.Name):
        if name in scope.bound:
            return True
        scope = scope.around
    return False
