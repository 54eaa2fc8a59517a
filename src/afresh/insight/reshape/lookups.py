"""Questions to a dict that it answers by itself, and loops that only pass on what they get."""

import ast
from collections.abc import Iterator

from afresh.insight.reshape.edits import Splice
from afresh.insight.reshape.render import widest
from afresh.insight.reshape.scene import PLAIN, Scene, harmless, same
from afresh.insight.reshape.suggestion import Change
from afresh.insight.reshape.text import lifted, lines_of, own

BARE = {"staticmethod", "classmethod", "property"}
"""Decorators after which a generator is still only iterated."""


def lookups(scene: Scene) -> Iterator[Change]:
    for _, _, statement in scene.pairs():
        match statement:
            case ast.If():
                found = _setdefault(scene, statement) or _get(scene, statement)
            case ast.Try():
                found = _get_instead_of_catching(scene, statement)
            case ast.For():
                found = _passed_on(scene, statement)
            case _:
                continue
        if found is not None and (change := _change(scene, statement, *found)) is not None:
            yield change


def _setdefault(scene: Scene, node: ast.If) -> tuple[str, str] | None:
    """`if k not in d: d[k] = v`."""
    match node:
        case ast.If(
            test=ast.Compare(left=key, ops=[ast.NotIn()], comparators=[place]),
            body=[ast.Assign(targets=[ast.Subscript(value=again, slice=index)], value=value)],
            orelse=[],
        ) if same(key, index) and same(place, again):
            if not _asked(scene, node, place, key) or not harmless(value, scene.known_before(node)):
                return None
            return "ask the dict", f"{own(scene.source, place)}.setdefault({own(scene.source, key)}, {own(scene.source, value)})"
        case _:
            return None


def _get(scene: Scene, node: ast.If) -> tuple[str, str] | None:
    """`if k in d: x = d[k]` with `else: x = v`."""
    match node:
        case ast.If(
            test=ast.Compare(left=key, ops=[ast.In()], comparators=[place]),
            body=[ast.Assign(targets=[target], value=ast.Subscript(value=again, slice=index))],
            orelse=[ast.Assign(targets=[other], value=value)],
        ) if same(key, index) and same(place, again) and same(target, other):
            return _answer(scene, node, (target, place, key, value))
        case _:
            return None


def _get_instead_of_catching(scene: Scene, node: ast.Try) -> tuple[str, str] | None:
    """`x = d[k]`, and `x = v` where it raised KeyError."""
    match node:
        case ast.Try(
            body=[ast.Assign(targets=[target], value=ast.Subscript(value=place, slice=key))],
            handlers=[
                ast.ExceptHandler(type=ast.Name(id="KeyError"), name=None, body=[ast.Assign(targets=[other], value=value)])
            ],
            orelse=[],
            finalbody=[],
        ) if same(target, other) and isinstance(target, ast.Name) and scene.builtin("KeyError"):
            return _answer(scene, node, (target, place, key, value))
        case _:
            return None


def _answer(scene: Scene, node: ast.stmt, parts: tuple[ast.expr, ast.expr, ast.expr, ast.expr]) -> tuple[str, str] | None:
    _, place, key, value = parts
    if not _asked(scene, node, place, key) or not harmless(value, scene.known_before(node)):
        return None
    text = [own(scene.source, part) for part in parts]
    default = "" if isinstance(value, ast.Constant) and value.value is None else f", {text[3]}"
    return "ask the dict", f"{text[0]} = {text[1]}.get({text[2]}{default})"


def _asked(scene: Scene, node: ast.stmt, place: ast.expr, key: ast.expr) -> bool:
    """A plain dict, and a key that is the same and cannot fail however often it is evaluated."""
    known = scene.known_before(node)
    named = not isinstance(key, ast.Name) or key.id in known
    return isinstance(key, PLAIN) and named and scene.surely_dict(place) and {place.id} <= known  # type: ignore[attr-defined]


def _passed_on(scene: Scene, loop: ast.For) -> tuple[str, str] | None:
    """`for x in xs: yield x`, where the function is declared to be iterated only: no one sends or throws into it."""
    match loop:
        case ast.For(target=ast.Name(id=name), body=[ast.Expr(value=ast.Yield(value=ast.Name(id=passed)))], orelse=[]) if (
            name == passed
        ):
            decorators = {ast.unparse(one).split(".")[-1] for one in scene.function.node.decorator_list}
            spoken_to = ".send(" in scene.source.text or ".throw(" in scene.source.text or not _only_iterated(scene)
            if not decorators <= BARE or spoken_to or isinstance(scene.function.node, ast.AsyncFunctionDef):
                return None
            if not scene.forgettable(frozenset({name}), loop, loop) or isinstance(loop.iter, ast.Tuple | ast.Yield | ast.Starred):
                return None
            return "pass on", f"yield from {own(scene.source, loop.iter)}"
        case _:
            return None


def _only_iterated(scene: Scene) -> bool:
    returns = scene.function.node.returns
    named = ast.unparse(returns).split("[")[0].rpartition(".")[2] if returns else ""
    return named in ("Iterator", "Iterable")


def _change(scene: Scene, node: ast.stmt, kind: str, text: str) -> Change | None:
    where = lines_of(scene.source, node)
    above = lifted(scene.source, where.first, where.last, where.indent) if where else None
    if where is None or where.word or above is None or len(above) > 2:
        return None
    if len(where.indent + text) > widest(scene.source):
        return None
    span, lines = (where.first, where.last), (*above, where.indent + text)
    return Change(kind, f"{kind}: `{text[:60]}`", (Splice(span[0], span[1] + 1, lines),), span, 1.0 + 0.5 * len(above))
