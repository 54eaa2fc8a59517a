"""A loop that does two things that know nothing of each other as two loops, so that each can be taken out."""

import ast
from collections.abc import Iterator

from afresh.insight.complexity import cost
from afresh.insight.reshape.blocks import first_line
from afresh.insight.reshape.edits import Splice
from afresh.insight.reshape.names import Names, Scope, bound_in, own_nodes, uses
from afresh.insight.reshape.scene import Scene
from afresh.insight.reshape.suggestion import Change
from afresh.insight.reshape.text import header_end, lines_of, plain

ENOUGH = 2
"""Decisions that each half must have to be worth a loop of its own."""
QUIET = {"len", "isinstance", "str", "int", "float", "bool", "abs", "min", "max", "round", "repr", "sorted", "tuple", "list"}
TEXTUAL = {"startswith", "endswith", "strip", "lower", "upper", "split", "get", "items", "keys", "values", "isdigit", "find"}
FILLING = {"append", "add", "extend", "update", "setdefault"}
MADE = ast.List | ast.ListComp | ast.Tuple | ast.Dict | ast.DictComp | ast.Set | ast.SetComp
LEAVES = (
    ast.Return | ast.Break | ast.Continue | ast.Raise | ast.Yield | ast.YieldFrom | ast.Await | ast.Delete | ast.Try | ast.With
)

HIDES = ast.Delete | ast.Try | ast.With | ast.NamedExpr | ast.Global | ast.Nonlocal | ast.Import | ast.ImportFrom


def split_loops(scene: Scene) -> Iterator[Change]:
    for _, _, statement in scene.pairs():
        if isinstance(statement, ast.For) and not statement.orelse and _again(scene, statement):
            for cut in range(1, len(statement.body)):
                if change := _split(scene, statement, cut):
                    yield change
                    break


def _again(scene: Scene, loop: ast.For) -> bool:
    """The function made what is iterated, nothing else holds it, and the loop leaves it alone: it gives the same twice."""
    if not isinstance(loop.iter, ast.Name) or scene.watched(frozenset({loop.iter.id})):
        return False
    values = scene.values(loop.iter.id)
    inside = [node for node in own_nodes(loop.body) if isinstance(node, ast.Name) and node.id == getattr(loop.iter, "id", "")]
    return bool(values) and all(isinstance(value, MADE) for value in values or []) and not inside


def _split(scene: Scene, loop: ast.For, cut: int) -> Change | None:
    halves = (loop.body[:cut], loop.body[cut:])
    where = lines_of(scene.source, loop)
    if where is None or any(cost(half) < ENOUGH for half in halves) or not all(_quiet(scene, half) for half in halves):
        return None
    touched = [_touched(half) for half in halves]
    targets = frozenset(uses(loop.target).binds)
    apart = not touched[0] & _mentioned(halves[1]) and not touched[1] & _mentioned(halves[0])
    if not apart or (touched[0] | touched[1]) & targets or not plain(scene.source, loop.lineno, header_end(loop)):
        return None
    if scene.watched(touched[0] | touched[1] | targets) or scene.half_done(touched[0] | touched[1] | targets, loop):
        return None
    begins = first_line(halves[1][0])
    while scene.source.line(begins - 1).lstrip().startswith("#"):
        begins -= 1
    head = [scene.source.line(line).rstrip("\r\n") for line in range(loop.lineno, header_end(loop) + 1)]
    first = [scene.source.line(line).rstrip("\r\n") for line in range(loop.lineno, begins)]
    second = [scene.source.line(line).rstrip("\r\n") for line in range(begins, where.last + 1)]
    lines = (*first, *head, *second)
    says = f"two loops over {loop.iter.id}, one for each thing"  # type: ignore[attr-defined]
    return Change("split loop", says, (Splice(where.first, where.last + 1, lines),), (where.first, where.last), 3.0)


def _quiet(scene: Scene, half: list[ast.stmt]) -> bool:
    """All that it does is to change names and collections of the function's own."""
    for node in own_nodes(half):
        if isinstance(node, LEAVES | HIDES | Scope):
            return False
        if isinstance(node, ast.Call) and not _quiet_call(scene, node):
            return False
        if isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store) and not _fresh(scene, node.value):
            return False
    return True


def _quiet_call(scene: Scene, call: ast.Call) -> bool:
    match call.func:
        case ast.Name(id=name):
            return name in QUIET and scene.builtin(name)
        case ast.Attribute(value=value, attr=verb):
            return verb in TEXTUAL or (verb in FILLING and _fresh(scene, value))
        case _:
            return False


def _fresh(scene: Scene, node: ast.expr) -> bool:
    """A collection that the function made itself and gave no other name."""
    if not isinstance(node, ast.Name):
        return False
    values = scene.values(node.id)
    return bool(values) and all(isinstance(value, MADE) for value in values or [])


def _touched(half: list[ast.stmt]) -> Names:
    calls = (node.func for node in own_nodes(half) if isinstance(node, ast.Call))
    filled = (func.value for func in calls if isinstance(func, ast.Attribute) and func.attr in FILLING)
    stored = (node.value for node in own_nodes(half) if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store))
    return bound_in(half) | {node.id for node in (*filled, *stored) if isinstance(node, ast.Name)}


def _mentioned(half: list[ast.stmt]) -> Names:
    return frozenset(node.id for node in own_nodes(half) if isinstance(node, ast.Name))
