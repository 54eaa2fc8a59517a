"""Rewrites dict lookups as `get` or `setdefault`, and loops that only yield as `yield from`."""

import ast
from collections.abc import Iterator

from afresh.code.refactoring.rewrite_target import PLAIN_NODES, RewriteTarget, is_harmless, is_same_code
from afresh.code.refactoring.source_text import lift_comments, locate_statement, render_on_one_line
from afresh.code.refactoring.suggestion import LineSplice, ProposedRewrite

ITERATION_SAFE_DECORATORS = {"staticmethod", "classmethod", "property"}
"""Decorators after which a generator is still only iterated."""


def simplify_lookups(scene: RewriteTarget) -> Iterator[ProposedRewrite]:
    for _, _, statement in scene.pairs():
        match statement:
            case ast.If():
                found = _use_setdefault(scene, statement) or _use_get(scene, statement)
            case ast.Try():
                found = _use_get_for_key_error(scene, statement)
            case ast.For():
                found = _use_yield_from(scene, statement)
            case _:
                continue
        if found is not None and (change := _make_rewrite(scene, statement, *found)) is not None:
            yield change


def _use_setdefault(scene: RewriteTarget, node: ast.If) -> tuple[str, str] | None:
    """Rewrite `if k not in d: d[k] = v`."""
    match node:
        case ast.If(
            test=ast.Compare(left=key, ops=[ast.NotIn()], comparators=[place]),
            body=[ast.Assign(targets=[ast.Subscript(value=again, slice=index)], value=value)],
            orelse=[],
        ) if is_same_code(key, index) and is_same_code(place, again):
            if not _is_plain_dict_access(scene, node, place, key) or not is_harmless(value, scene.known_before(node)):
                return None
            return (
                "ask the dict",
                f"{render_on_one_line(scene.source, place)}.setdefault("
                f"{render_on_one_line(scene.source, key)}, {render_on_one_line(scene.source, value)})",
            )
        case _:
            return None


def _use_get(scene: RewriteTarget, node: ast.If) -> tuple[str, str] | None:
    """Rewrite `if k in d: x = d[k]` with `else: x = v`."""
    match node:
        case ast.If(
            test=ast.Compare(left=key, ops=[ast.In()], comparators=[place]),
            body=[ast.Assign(targets=[target], value=ast.Subscript(value=again, slice=index))],
            orelse=[ast.Assign(targets=[other], value=value)],
        ) if is_same_code(key, index) and is_same_code(place, again) and is_same_code(target, other):
            return _render_get(scene, node, (target, place, key, value))
        case _:
            return None


def _use_get_for_key_error(scene: RewriteTarget, node: ast.Try) -> tuple[str, str] | None:
    """Rewrite `x = d[k]` with `x = v` on KeyError."""
    match node:
        case ast.Try(
            body=[ast.Assign(targets=[target], value=ast.Subscript(value=place, slice=key))],
            handlers=[
                ast.ExceptHandler(type=ast.Name(id="KeyError"), name=None, body=[ast.Assign(targets=[other], value=value)])
            ],
            orelse=[],
            finalbody=[],
        ) if is_same_code(target, other) and isinstance(target, ast.Name) and scene.builtin("KeyError"):
            return _render_get(scene, node, (target, place, key, value))
        case _:
            return None


def _render_get(
    scene: RewriteTarget, node: ast.stmt, parts: tuple[ast.expr, ast.expr, ast.expr, ast.expr]
) -> tuple[str, str] | None:
    _, place, key, value = parts
    if not _is_plain_dict_access(scene, node, place, key) or not is_harmless(value, scene.known_before(node)):
        return None
    text = [render_on_one_line(scene.source, part) for part in parts]
    default = "" if isinstance(value, ast.Constant) and value.value is None else f", {text[3]}"
    return "ask the dict", f"{text[0]} = {text[1]}.get({text[2]}{default})"


def _is_plain_dict_access(scene: RewriteTarget, node: ast.stmt, place: ast.expr, key: ast.expr) -> bool:
    """Whether it accesses a plain dict with the same key, whose evaluation can't fail and can be repeated."""
    known = scene.known_before(node)
    named = not isinstance(key, ast.Name) or key.id in known
    sure = isinstance(key, PLAIN_NODES) and named and scene.surely_dict(place)
    return sure and {place.id} <= known  # type: ignore[attr-defined]


def _use_yield_from(scene: RewriteTarget, loop: ast.For) -> tuple[str, str] | None:
    """Rewrite `for x in xs: yield x`, if the return type says that callers only iterate, without `send` or `throw`."""
    match loop:
        case ast.For(target=ast.Name(id=name), body=[ast.Expr(value=ast.Yield(value=ast.Name(id=passed)))], orelse=[]) if (
            name == passed
        ):
            decorators = {ast.unparse(one).split(".")[-1] for one in scene.function.node.decorator_list}
            spoken_to = ".send(" in scene.source.text or ".throw(" in scene.source.text or not _is_only_iterated(scene)
            if not decorators <= ITERATION_SAFE_DECORATORS or spoken_to or isinstance(scene.function.node, ast.AsyncFunctionDef):
                return None
            if not scene.forgettable(frozenset({name}), loop, loop) or isinstance(loop.iter, ast.Tuple | ast.Yield | ast.Starred):
                return None
            return "pass on", f"yield from {render_on_one_line(scene.source, loop.iter)}"
        case _:
            return None


def _is_only_iterated(scene: RewriteTarget) -> bool:
    returns = scene.function.node.returns
    named = ast.unparse(returns).split("[")[0].rpartition(".")[2] if returns else ""
    return named in ("Iterator", "Iterable")


def _make_rewrite(scene: RewriteTarget, node: ast.stmt, kind: str, text: str) -> ProposedRewrite | None:
    where = locate_statement(scene.source, node)
    above = lift_comments(scene.source, where.first, where.last, where.indent) if where else None
    if where is None or where.word or above is None or len(above) > 2:
        return None
    if len(where.indent + text) > scene.source.layout.line_width:
        return None
    span, lines = (where.first, where.last), (*above, where.indent + text)
    return ProposedRewrite(
        kind, f"{kind}: `{text[:60]}`", (LineSplice(span[0], span[1] + 1, lines),), span, 1.0 + 0.5 * len(above)
    )
