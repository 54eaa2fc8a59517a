"""Splits a loop that does two independent things into two loops, so that each can be extracted."""

import ast
from collections.abc import Iterator

from afresh.code.complexity import count_decision_points
from afresh.code.refactoring.blocks import find_first_line
from afresh.code.refactoring.name_usage import NameSet, ScopeNode, collect_bound_names, collect_name_uses, walk_own_scope
from afresh.code.refactoring.rewrite_target import RewriteTarget
from afresh.code.refactoring.source_text import find_header_end, has_no_comments, locate_statement
from afresh.code.refactoring.suggestion import LineSplice, ProposedRewrite

MIN_DECISIONS_OF_HALF = 2
"""Decisions that each half must have to be worth a loop of its own."""
PURE_FUNCTIONS = {
    "len",
    "isinstance",
    "str",
    "int",
    "float",
    "bool",
    "abs",
    "min",
    "max",
    "round",
    "repr",
    "sorted",
    "tuple",
    "list",
}
PURE_METHODS = {"startswith", "endswith", "strip", "lower", "upper", "split", "get", "items", "keys", "values", "isdigit", "find"}
FILLING_METHODS = {"append", "add", "extend", "update", "setdefault"}
COLLECTION_NODES = ast.List | ast.ListComp | ast.Tuple | ast.Dict | ast.DictComp | ast.Set | ast.SetComp
LEAVING_NODES = (
    ast.Return | ast.Break | ast.Continue | ast.Raise | ast.Yield | ast.YieldFrom | ast.Await | ast.Delete | ast.Try | ast.With
)

HIDING_NODES = ast.Delete | ast.Try | ast.With | ast.NamedExpr | ast.Global | ast.Nonlocal | ast.Import | ast.ImportFrom


def split_loops(scene: RewriteTarget) -> Iterator[ProposedRewrite]:
    for _, _, statement in scene.pairs():
        if isinstance(statement, ast.For) and not statement.orelse and _can_iterate_twice(scene, statement):
            for cut in range(1, len(statement.body)):
                if change := _split_at(scene, statement, cut):
                    yield change
                    break


def _can_iterate_twice(scene: RewriteTarget, loop: ast.For) -> bool:
    """Whether iterating twice gives the same: the function made the iterable, nothing else holds it, and the loop does not change
    it.
    """
    if not isinstance(loop.iter, ast.Name) or scene.watched(frozenset({loop.iter.id})):
        return False
    values = scene.values(loop.iter.id)
    inside = [
        node for node in walk_own_scope(loop.body) if isinstance(node, ast.Name) and node.id == getattr(loop.iter, "id", "")
    ]
    return bool(values) and all(isinstance(value, COLLECTION_NODES) for value in values or []) and not inside


def _split_at(scene: RewriteTarget, loop: ast.For, cut: int) -> ProposedRewrite | None:
    halves = (loop.body[:cut], loop.body[cut:])
    where = locate_statement(scene.source, loop)
    if (
        where is None
        or any(count_decision_points(half) < MIN_DECISIONS_OF_HALF for half in halves)
        or not all(_has_only_local_effects(scene, half) for half in halves)
    ):
        return None
    touched = [_changed_names(half) for half in halves]
    targets = frozenset(collect_name_uses(loop.target).binds)
    apart = not touched[0] & _mentioned_names(halves[1]) and not touched[1] & _mentioned_names(halves[0])
    if not apart or (touched[0] | touched[1]) & targets or not has_no_comments(scene.source, loop.lineno, find_header_end(loop)):
        return None
    if scene.watched(touched[0] | touched[1] | targets) or scene.half_done(touched[0] | touched[1] | targets, loop):
        return None
    begins = find_first_line(halves[1][0])
    while scene.source.line(begins - 1).lstrip().startswith("#"):
        begins -= 1
    head = [scene.source.line(line).rstrip("\r\n") for line in range(loop.lineno, find_header_end(loop) + 1)]
    first = [scene.source.line(line).rstrip("\r\n") for line in range(loop.lineno, begins)]
    second = [scene.source.line(line).rstrip("\r\n") for line in range(begins, where.last + 1)]
    lines = (*first, *head, *second)
    says = f"two loops over {loop.iter.id}, one for each thing"  # type: ignore[attr-defined]
    return ProposedRewrite("split loop", says, (LineSplice(where.first, where.last + 1, lines),), (where.first, where.last), 3.0)


def _has_only_local_effects(scene: RewriteTarget, half: list[ast.stmt]) -> bool:
    """Whether it only changes names and collections that belong to the function."""
    for node in walk_own_scope(half):
        if isinstance(node, LEAVING_NODES | HIDING_NODES | ScopeNode):
            return False
        if isinstance(node, ast.Call) and not _is_pure_call(scene, node):
            return False
        if (
            isinstance(node, ast.Attribute | ast.Subscript)
            and isinstance(node.ctx, ast.Store)
            and not _is_own_collection(scene, node.value)
        ):
            return False
    return True


def _is_pure_call(scene: RewriteTarget, call: ast.Call) -> bool:
    match call.func:
        case ast.Name(id=name):
            return name in PURE_FUNCTIONS and scene.builtin(name)
        case ast.Attribute(value=value, attr=verb):
            return verb in PURE_METHODS or (verb in FILLING_METHODS and _is_own_collection(scene, value))
        case _:
            return False


def _is_own_collection(scene: RewriteTarget, node: ast.expr) -> bool:
    """Whether it is a collection that the function made and that has no other name."""
    if not isinstance(node, ast.Name):
        return False
    values = scene.values(node.id)
    return bool(values) and all(isinstance(value, COLLECTION_NODES) for value in values or [])


def _changed_names(half: list[ast.stmt]) -> NameSet:
    calls = (node.func for node in walk_own_scope(half) if isinstance(node, ast.Call))
    filled = (func.value for func in calls if isinstance(func, ast.Attribute) and func.attr in FILLING_METHODS)
    stored = (node.value for node in walk_own_scope(half) if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store))
    return collect_bound_names(half) | {node.id for node in (*filled, *stored) if isinstance(node, ast.Name)}


def _mentioned_names(half: list[ast.stmt]) -> NameSet:
    return frozenset(node.id for node in walk_own_scope(half) if isinstance(node, ast.Name))
