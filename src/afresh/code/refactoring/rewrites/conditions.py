"""Rewrites conditions: merges nested or neighbouring ones, puts the short case first as a guard clause.

Guard clauses remove no decision, but what was nested can then be extracted."""

import ast
from collections.abc import Iterator

from afresh.code.refactoring.blocks import StatementList
from afresh.code.refactoring.rewrite_target import RewriteTarget, is_same_body
from afresh.code.refactoring.source_text import (
    detect_indent_step,
    find_comments,
    find_header_end,
    has_no_comments,
    locate_statement,
    negate_condition,
    reindent_lines,
    render_condition_header,
    render_operands,
)
from afresh.code.refactoring.suggestion import LineSplice, ProposedRewrite

MAX_OPERANDS = 4
"""Operands that a reader can take in at once."""
JUMP_STATEMENTS = ast.Return | ast.Raise | ast.Continue | ast.Break


def merge_conditions(scene: RewriteTarget) -> Iterator[ProposedRewrite]:
    for place, number, statement in scene.pairs():
        if isinstance(statement, ast.If):
            yield from filter(
                None,
                (_merge_nested(scene, statement), _merge_equal_branches(scene, statement), _merge_guards(scene, place, number)),
            )


def _merge_nested(scene: RewriteTarget, outer: ast.If) -> ProposedRewrite | None:
    """Merge `if a:` that contains only `if b:`."""
    if outer.orelse or len(outer.body) != 1 or not isinstance(inner := outer.body[0], ast.If) or inner.orelse:
        return None
    source, where, deeper = scene.source, locate_statement(scene.source, outer), locate_statement(scene.source, inner)
    if where is None or deeper is None or not has_no_comments(source, outer.lineno, find_header_end(inner)):
        return None
    head = _render_header(scene, [outer.test, inner.test], "and", where.word or "if", where.indent)
    if head is None or deeper.indent == where.indent:
        return None
    body = reindent_lines(source, inner.lineno, where.last, deeper.indent, where.indent)
    lines = [*head, *body[find_header_end(inner) - inner.lineno + 1 :]]
    return _make_merge("merge nested conditions", head, where.first, where.last, lines, 1.0)


def _merge_equal_branches(scene: RewriteTarget, first: ast.If) -> ProposedRewrite | None:
    """Merge `if a:` and `elif b:` with the same body."""
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
    return _make_merge("merge branches that do the same", head, where.first, last, [*head, *body], 1.5)


def _merge_guards(scene: RewriteTarget, place: StatementList, number: int) -> ProposedRewrite | None:
    """Merge `if a: return x` followed by `if b: return x`."""
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
    return _make_merge("merge conditions that lead to the same", head, where.first, end.last, [*head, *body], 1.5)


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


def _make_merge(kind: str, head: list[str], first: int, last: int, lines: list[str], score: float) -> ProposedRewrite:
    asked = " ".join(line.strip() for line in head).rstrip(":")
    crowded = 1.0 if len(head) > 1 else 0.0
    return ProposedRewrite(
        kind, f"{kind}: `{asked[:60]}`", (LineSplice(first, last + 1, tuple(lines)),), (first, last), score + crowded
    )


MIN_LONG_BRANCH_LINES = 4
MAX_SHORT_BRANCH_LINES = 3


def make_guard_clauses(scene: RewriteTarget) -> Iterator[ProposedRewrite]:
    for place, number, statement in scene.pairs():
        if isinstance(statement, ast.If):
            last = number == len(place.statements) - 1
            found = (
                _leave_early(scene, place, statement, last),
                _put_short_case_first(scene, statement),
                _drop_else_after_jump(scene, statement),
            )
            yield from filter(None, found)


def _leave_early(scene: RewriteTarget, place: StatementList, node: ast.If, last: bool) -> ProposedRewrite | None:
    """Turn a condition around the rest of a function or of a loop's body into a guard clause."""
    leave = "return" if place.ends_function else "continue" if place.ends_loop else ""
    where, body = locate_statement(scene.source, node), node.body
    if not leave or not last or node.orelse or where is None or where.word or _count_lines(body) < MIN_LONG_BRANCH_LINES:
        return None
    head = _render_negated_header(scene, node, where.indent)
    if head is None:
        return None
    lines = [*head, f"{where.indent}{detect_indent_step(scene.source)}{leave}", *_dedent_body(scene, node, body, where.indent)]
    return _make_guard("guard clause", f"leave early: `{head[0].strip()}` {leave}", where.first, where.last, lines)


def _put_short_case_first(scene: RewriteTarget, node: ast.If) -> ProposedRewrite | None:
    """Put a short `else` that leaves before a long `if` body."""
    where, other = locate_statement(scene.source, node), node.orelse
    if where is None or where.word or not other or not isinstance(other[-1], JUMP_STATEMENTS) or isinstance(other[0], ast.If):
        return None
    end = node.body[-1].end_lineno or 0
    keyword = end + 1
    if (
        _count_lines(other) > MAX_SHORT_BRANCH_LINES
        or _count_lines(node.body) < MIN_LONG_BRANCH_LINES
        or scene.source.line(keyword).strip() != "else:"
    ):
        return None
    head = _render_negated_header(scene, node, where.indent)
    if head is None or other[0].lineno != keyword + 1:
        return None
    short = [scene.source.line(line).rstrip("\r\n") for line in range(keyword + 1, where.last + 1)]
    lines = [*head, *short, *_dedent_body(scene, node, node.body, where.indent)]
    return _make_guard("guard clause", f"the short case first: `{head[0].strip()}`", where.first, where.last, lines)


def _drop_else_after_jump(scene: RewriteTarget, node: ast.If) -> ProposedRewrite | None:
    """Remove the `else` after a branch that always leaves."""
    where, other = locate_statement(scene.source, node), node.orelse
    if where is None or not other or not isinstance(node.body[-1], JUMP_STATEMENTS) or where.word:
        return None
    keyword = (node.body[-1].end_lineno or 0) + 1
    text = scene.source.line(keyword)
    first = range(node.lineno, keyword)
    kept = [scene.source.line(line).rstrip("\r\n") for line in first]
    if text.startswith(where.indent + "elif"):
        rest = [where.indent + text[len(where.indent) + 2 :].rstrip("\r\n")]
        rest += [scene.source.line(line).rstrip("\r\n") for line in range(keyword + 1, where.last + 1)]
    elif text.strip() == "else:":
        old = scene.source.line(other[0].lineno)
        rest = reindent_lines(scene.source, keyword + 1, where.last, old[: len(old) - len(old.lstrip())], where.indent)
    else:
        return None
    return _make_guard("early return", f"no `else` after `{_jump_word(node.body[-1])}`", where.first, where.last, [*kept, *rest])


def _render_negated_header(scene: RewriteTarget, node: ast.If, indent: str) -> list[str] | None:
    text = negate_condition(scene.source, node.test)
    if text is None or not has_no_comments(scene.source, node.lineno, find_header_end(node)):
        return None
    return render_condition_header(indent, "if", [text], "and", scene.source)


def _dedent_body(scene: RewriteTarget, node: ast.If, body: list[ast.stmt], indent: str) -> list[str]:
    old = scene.source.line(body[0].lineno)
    return reindent_lines(
        scene.source, find_header_end(node) + 1, body[-1].end_lineno or 0, old[: len(old) - len(old.lstrip())], indent
    )


def _jump_word(node: ast.stmt) -> str:
    return type(node).__name__.lower()


def _count_lines(body: list[ast.stmt]) -> int:
    return (body[-1].end_lineno or 0) - body[0].lineno + 1


def _make_guard(kind: str, head: str, first: int, last: int, lines: list[str]) -> ProposedRewrite:
    return ProposedRewrite(kind, head, (LineSplice(first, last + 1, tuple(lines)),), (first, last), 1.0)
