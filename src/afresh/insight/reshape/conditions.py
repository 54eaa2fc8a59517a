"""Conditions brought together: nested ones by `and`, neighbours that do the same by `or`."""

import ast
from collections.abc import Iterator

from afresh.insight.reshape.blocks import Place
from afresh.insight.reshape.edits import Splice
from afresh.insight.reshape.scene import Scene, same_all
from afresh.insight.reshape.suggestion import Change
from afresh.insight.reshape.text import comments, conditional, header_end, joined, lifted, lines_of, moved, plain

MOST = 4
"""Operands that a reader takes in at once."""
JUMPS = ast.Return | ast.Raise | ast.Continue | ast.Break


def merged_conditions(scene: Scene) -> Iterator[Change]:
    for place, number, statement in scene.pairs():
        if isinstance(statement, ast.If):
            yield from filter(None, (_nested(scene, statement), _alike(scene, statement), _guards(scene, place, number)))


def _nested(scene: Scene, outer: ast.If) -> Change | None:
    """`if a:` around nothing but `if b:`."""
    if outer.orelse or len(outer.body) != 1 or not isinstance(inner := outer.body[0], ast.If) or inner.orelse:
        return None
    source, where, deeper = scene.source, lines_of(scene.source, outer), lines_of(scene.source, inner)
    above = lifted(source, outer.lineno, header_end(inner), where.indent) if where else None
    if where is None or deeper is None or above is None or (above and where.word):
        return None
    head = _head(scene, [outer.test, inner.test], "and", where.word or "if", where.indent)
    if head is None or deeper.indent == where.indent:
        return None
    body = moved(source, inner.lineno, where.last, deeper.indent, where.indent)
    lines = [*above, *head, *body[header_end(inner) - inner.lineno + 1 :]]
    return _change("merge nested conditions", head, where.first, where.last, lines, 1.0)


def _alike(scene: Scene, first: ast.If) -> Change | None:
    """`if a:` and `elif b:` with the same body."""
    if len(first.orelse) != 1 or not isinstance(second := first.orelse[0], ast.If) or not same_all(first.body, second.body):
        return None
    source, where, after = scene.source, lines_of(scene.source, first), lines_of(scene.source, second)
    if where is None or after is None or after.word != "elif":
        return None
    last = second.body[-1].end_lineno or second.lineno
    if not plain(source, first.lineno, header_end(first)) or not plain(source, (first.body[-1].end_lineno or 0) + 1, last):
        return None
    if any(line in comments(source.text) for line in range(first.lineno, last + 1)):
        return None
    head = _head(scene, [first.test, second.test], "or", where.word or "if", where.indent)
    if head is None:
        return None
    body = [source.line(line).rstrip("\r\n") for line in range(header_end(first) + 1, (first.body[-1].end_lineno or 0) + 1)]
    return _change("merge branches that do the same", head, where.first, last, [*head, *body], 1.5)


def _guards(scene: Scene, place: Place, number: int) -> Change | None:
    """`if a: return x` and then `if b: return x`."""
    run = _run(place.statements[number:])
    if len(run) < 2 or (number and len(_run(place.statements[number - 1 :])) > len(run)):
        return None
    source, where, end = scene.source, lines_of(scene.source, run[0]), lines_of(scene.source, run[-1])
    if where is None or end is None or where.word or not plain(source, where.first, end.last):
        return None
    head = _head(scene, [one.test for one in run], "or", "if", where.indent)
    if head is None:
        return None
    first = run[-1].body[0].lineno
    body = [source.line(line).rstrip("\r\n") for line in range(first, end.last + 1)]
    return _change("merge conditions that lead to the same", head, where.first, end.last, [*head, *body], 1.5)


def _run(statements: list[ast.stmt]) -> list[ast.If]:
    found: list[ast.If] = []
    for statement in statements[:MOST]:
        if not isinstance(statement, ast.If) or statement.orelse or not isinstance(statement.body[-1], JUMPS):
            break
        if len(statement.body) > 2 or (found and not same_all(found[0].body, statement.body)):
            break
        found.append(statement)
    return found


def _head(scene: Scene, tests: list[ast.expr], joint: str, word: str, indent: str) -> list[str] | None:
    parts = joined(scene.source, tests, joint)
    if parts is None or len(parts) > MOST:
        return None
    return conditional(indent, word, parts, joint, scene.source)


def _change(kind: str, head: list[str], first: int, last: int, lines: list[str], score: float) -> Change:
    asked = " ".join(line.strip() for line in head).rstrip(":")
    crowded = 1.0 if len(head) > 1 else 0.0
    return Change(kind, f"{kind}: `{asked[:60]}`", (Splice(first, last + 1, tuple(lines)),), (first, last), score + crowded)
