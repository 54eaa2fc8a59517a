"""Conditions brought together: nested ones by `and`, neighbours that do the same by `or`."""

import ast
from collections.abc import Iterator

from afresh.code.refactoring.blocks import StatementList
from afresh.code.refactoring.rewrite_target import RewriteTarget, is_same_body
from afresh.code.refactoring.source_text import (
    find_comments,
    find_header_end,
    has_no_comments,
    lift_comments,
    locate_statement,
    reindent_lines,
    render_condition_header,
    render_operands,
)
from afresh.code.refactoring.suggestion import LineSplice, ProposedRewrite

MAX_OPERANDS = 4
"""Operands that a reader takes in at once."""
JUMP_STATEMENTS = ast.Return | ast.Raise | ast.Continue | ast.Break


def merge_conditions(scene: RewriteTarget) -> Iterator[ProposedRewrite]:
    for place, number, statement in scene.pairs():
        if isinstance(statement, ast.If):
            yield from filter(
                None,
                (_merge_nested(scene, statement), _merge_equal_branches(scene, statement), _merge_guards(scene, place, number)),
            )


def _merge_nested(scene: RewriteTarget, outer: ast.If) -> ProposedRewrite | None:
    """`if a:` around nothing but `if b:`."""
    if outer.orelse or len(outer.body) != 1 or not isinstance(inner := outer.body[0], ast.If) or inner.orelse:
        return None
    source, where, deeper = scene.source, locate_statement(scene.source, outer), locate_statement(scene.source, inner)
    above = lift_comments(source, outer.lineno, find_header_end(inner), where.indent) if where else None
    if where is None or deeper is None or above is None or (above and where.word):
        return None
    head = _render_header(scene, [outer.test, inner.test], "and", where.word or "if", where.indent)
    if head is None or deeper.indent == where.indent:
        return None
    body = reindent_lines(source, inner.lineno, where.last, deeper.indent, where.indent)
    lines = [*above, *head, *body[find_header_end(inner) - inner.lineno + 1 :]]
    return _make_rewrite("merge nested conditions", head, where.first, where.last, lines, 1.0)


def _merge_equal_branches(scene: RewriteTarget, first: ast.If) -> ProposedRewrite | None:
    """`if a:` and `elif b:` with the same body."""
    if len(first.orelse) != 1 or not isinstance(second := first.orelse[0], ast.If) or not is_same_body(first.body, second.body):
        return None
    source, where, after = scene.source, locate_statement(scene.source, first), locate_statement(scene.source, second)
    if where is None or after is None or after.word != "elif":
        return None
    last = second.body[-1].end_lineno or second.lineno
    if not has_no_comments(source, first.lineno, find_header_end(first)) or not has_no_comments(
        source, (first.body[-1].end_lineno or 0) + 1, last
    ):
        return None
    if any(line in find_comments(source.text) for line in range(first.lineno, last + 1)):
        return None
    head = _render_header(scene, [first.test, second.test], "or", where.word or "if", where.indent)
    if head is None:
        return None
    body = [source.line(line).rstrip("\r\n") for line in range(find_header_end(first) + 1, (first.body[-1].end_lineno or 0) + 1)]
    return _make_rewrite("merge branches that do the same", head, where.first, last, [*head, *body], 1.5)


def _merge_guards(scene: RewriteTarget, place: StatementList, number: int) -> ProposedRewrite | None:
    """`if a: return x` and then `if b: return x`."""
    run = _find_equal_guards(place.statements[number:])
    if len(run) < 2 or (number and len(_find_equal_guards(place.statements[number - 1 :])) > len(run)):
        return None
    source, where, end = scene.source, locate_statement(scene.source, run[0]), locate_statement(scene.source, run[-1])
    if where is None or end is None or where.word or not has_no_comments(source, where.first, end.last):
        return None
    mixed = any(isinstance(one.test, ast.BoolOp) and isinstance(one.test.op, ast.And) for one in run)
    head = None if mixed else _render_header(scene, [one.test for one in run], "or", "if", where.indent)
    if head is None or len(head) > 1:
        return None
    first = run[-1].body[0].lineno
    body = [source.line(line).rstrip("\r\n") for line in range(first, end.last + 1)]
    return _make_rewrite("merge conditions that lead to the same", head, where.first, end.last, [*head, *body], 1.5)


def _find_equal_guards(statements: list[ast.stmt]) -> list[ast.If]:
    found: list[ast.If] = []
    for statement in statements[:MAX_OPERANDS]:
        if not isinstance(statement, ast.If) or statement.orelse or not isinstance(statement.body[-1], JUMP_STATEMENTS):
            break
        if len(statement.body) > 2 or (found and not is_same_body(found[0].body, statement.body)):
            break
        found.append(statement)
    return found


def _render_header(scene: RewriteTarget, tests: list[ast.expr], joint: str, word: str, indent: str) -> list[str] | None:
    parts = render_operands(scene.source, tests, joint)
    if parts is None or len(parts) > MAX_OPERANDS:
        return None
    return render_condition_header(indent, word, parts, joint, scene.source)


def _make_rewrite(kind: str, head: list[str], first: int, last: int, lines: list[str], score: float) -> ProposedRewrite:
    asked = " ".join(line.strip() for line in head).rstrip(":")
    crowded = 1.0 if len(head) > 1 else 0.0
    return ProposedRewrite(
        kind, f"{kind}: `{asked[:60]}`", (LineSplice(first, last + 1, tuple(lines)),), (first, last), score + crowded
    )
