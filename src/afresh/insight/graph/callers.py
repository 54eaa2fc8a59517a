"""Who uses a symbol of Python."""

import ast
from collections.abc import Iterator
from dataclasses import replace

from afresh.domain.calls import SymbolUse, SymbolUses, UseKind
from afresh.domain.code import SymbolPlace
from afresh.insight.graph.arity import can_accept_call
from afresh.insight.graph.classes import resolve_method_order
from afresh.insight.graph.implicit import IMPLICIT_ROLES
from afresh.insight.graph.meaning import UseMeaning, find_constructors, resolve_use
from afresh.insight.graph.scopes import ScopedFile, NameScope, NameUse
from afresh.insight.graph.target import MAX_ALIAS_ROUNDS, CallTarget, find_candidate_files, find_used_names, make_call_target
from afresh.insight.graph.world import InferenceSession

WAY_BY_ROLE = {
    "call": UseKind.CALL,
    "implicit": UseKind.CALL,
    "iterated": UseKind.CALL,
    "augmented": UseKind.CALL,
    "decorator": UseKind.DECORATOR,
    "passed": UseKind.PASSED,
    "argument": UseKind.PASSED,
    "import": UseKind.IMPORT,
}
ACCESS_ROLES = {"passed", "argument", "receiver", "store"}


def find_python_callers(world: InferenceSession, place: SymbolPlace, most: int) -> SymbolUses:
    target = make_call_target(world, place)
    found: dict[tuple[str, int, UseKind], SymbolUse] = {}
    seen: set[tuple[str, str]] = set()
    unread = 0
    for _ in range(MAX_ALIAS_ROUNDS):
        paths, unread = find_candidate_files(world, target, most)
        for path in paths:
            file = world.file(path)
            for call in _find_uses(world, target, file, seen) if file else ():
                kept = found.get((call.path, call.line, call.kind))
                if kept is None or (call.sure and not kept.sure):
                    found[call.path, call.line, call.kind] = call
            world.release()
        names = find_used_names(world, target.names)
        if names <= target.names:
            break
        target = replace(target, names=frozenset(names))
    return SymbolUses(tuple(sorted(found.values(), key=call_sort_key)), unread, world.exhausted)


def call_sort_key(call: SymbolUse) -> tuple[bool, str, int, str]:
    return not call.sure, call.path, call.line, call.kind


def _find_uses(world: InferenceSession, target: CallTarget, file: ScopedFile, seen: set[tuple[str, str]]) -> Iterator[SymbolUse]:
    inside = target.inside if _defines_related_class(target, file) else frozenset()
    local = {other for name in target.names for other in file.local.get(name, ())}
    for name in sorted(file.uses if target.short == "__call__" else target.names | inside | local):
        if (file.path, name) in seen:
            continue
        seen.add((file.path, name))
        for use in file.uses.get(name, ()):
            if (judged := _judge_use(world, target, use, name)) is not None:
                line = name_line_from_node(use.node)
                yield SymbolUse(file.path, line, use.scope.name, file.line(line), judged[1], judged[0], target.place)


def _defines_related_class(target: CallTarget, file: ScopedFile) -> bool:
    return file.path == target.place.path or any(
        name.rpartition(".")[2] in target.names and isinstance(scope.node, ast.ClassDef) for name, scope in file.scopes.items()
    )


def name_line_from_node(node: ast.AST) -> int:
    """Of the name itself, which ends an attribute."""
    return (node.end_lineno or 0) if isinstance(node, ast.Attribute) else getattr(node, "lineno", 0)


def _judge_use(world: InferenceSession, target: CallTarget, use: NameUse, name: str) -> tuple[UseKind, bool] | None:
    """How it is used and whether that is sure; nothing if this is somebody else of the same name."""
    way = way_from_use(target, use)
    if way is None or (name in target.inside and way is not UseKind.CALL):
        return None
    if target.short == "__call__" and use.role in ("call", "decorator") and name != "__call__":
        return (way, True) if _calls_instance(world, target, use) else None
    meant = resolve_use(world, use, name)
    defined = meant.defined
    if target.made and use.role in ("call", "decorator"):
        defined = defined | find_constructors(world, meant)
    if target.key in defined:
        # operators take anything, so that what else it may be counts against it
        return way, not (meant.unknown and use.role in IMPLICIT_ROLES)
    if _may_be_overridden(world, target, meant) or (meant.unknown and not meant.defined and _is_plausible(target, use, name)):
        return way, False
    return None


def way_from_use(target: CallTarget, use: NameUse) -> UseKind | None:
    if target.accessed:
        return UseKind.CALL if use.role in ACCESS_ROLES else None
    if target.made and use.role not in ("call", "decorator"):
        return None
    return WAY_BY_ROLE.get(use.role)


def _calls_instance(world: InferenceSession, target: CallTarget, use: NameUse) -> bool:
    return target.key in resolve_use(world, use._replace(role="implicit"), "__call__").defined


def _may_be_overridden(world: InferenceSession, target: CallTarget, meant: UseMeaning) -> bool:
    """The receiver's class is above the target's own, so that the target may answer in its place."""
    return target.owner is not None and any(
        each != target.owner and each in resolve_method_order(world, target.owner)[1:] for each in meant.receivers
    )


def _is_plausible(target: CallTarget, use: NameUse, name: str) -> bool:
    """Nothing but the name is known: then it must be said of an object if it is a method, stand alone if it is not, and a call
    must fit the parameters."""
    if use.role in (*IMPLICIT_ROLES, "import") or target.implicit or target.made or name != target.short:
        return False
    if isinstance(use.node, ast.Attribute) != (target.owner is not None) or _is_bound(use, name):
        return False
    if use.role == "passed" and not target.accessed:
        return False
    if use.call is None or target.arguments is None:
        return True
    return can_accept_call(use.call, target.arguments, bound=target.owner is not None)


def _is_bound(use: NameUse, name: str) -> bool:
    """A name that stands alone and is bound where it stands means just that, whatever it is."""
    scope: NameScope | None = use.scope
    while scope is not None and isinstance(use.node, ast.Name):
        if name in scope.bound:
            return True
        scope = scope.around
    return False
