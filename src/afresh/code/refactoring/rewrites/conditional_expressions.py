"""Rewrites two short branches that only choose a value as one conditional expression."""

import ast
from collections.abc import Iterator

from afresh.code.refactoring.blocks import StatementList
from afresh.code.refactoring.rewrite_target import RewriteTarget, has_mention_of, is_harmless, is_same_code, is_surely_bool
from afresh.code.refactoring.source_text import (
    StatementLines,
    detect_line_width,
    is_text_of,
    lift_comments,
    locate_statement,
    negate_condition,
    render_on_one_line,
)
from afresh.code.refactoring.suggestion import LineSplice, ProposedRewrite

MAX_REPLACED_VALUE_CHARACTERS = 30
MAX_EXPRESSION_CHARACTERS = 100
"""A longer conditional expression is harder to read than its branches."""
UNFIT_NODES = ast.IfExp | ast.Lambda | ast.NamedExpr | ast.Yield | ast.YieldFrom | ast.Starred | ast.ListComp | ast.DictComp


def use_conditional_expressions(scene: RewriteTarget) -> Iterator[ProposedRewrite]:
    for place, number, statement in scene.pairs():
        if isinstance(statement, ast.If) and len(statement.body) == 1:
            alone = (
                _choose_assigned_value(scene, statement),
                _use_fallback(scene, statement),
                _choose_appended_value(scene, statement),
            )
            yield from filter(
                None, (*alone, _choose_returned_value(scene, place, number), _join_preset_value(scene, place, number))
            )


def _choose_assigned_value(scene: RewriteTarget, node: ast.If) -> ProposedRewrite | None:
    """Rewrite `x = a` in one branch and `x = b` in the other."""
    match node.body, node.orelse:
        case [ast.Assign() as then], [ast.Assign() as other] if len(then.targets) == len(other.targets) == 1:
            where, target = locate_statement(scene.source, node), render_on_one_line(scene.source, then.targets[0])
            if where is None or target is None or not is_same_code(then.targets[0], other.targets[0]):
                return None
            text = _render_choice(scene, node.test, then.value, other.value)
            lead = f"{target} = "
            if where.word:
                return None
            return _make_rewrite(scene, where, (node.lineno, where.last), lead + text, 1.5) if text else None
        case _:
            return None


def _choose_returned_value(scene: RewriteTarget, place: StatementList, number: int) -> ProposedRewrite | None:
    """Rewrite `if c: return a` followed by `return b`."""
    node = place.statements[number]
    assert isinstance(node, ast.If)
    other = node.orelse[0] if len(node.orelse) == 1 else None
    if not node.orelse and number + 1 < len(place.statements):
        other = place.statements[number + 1]
    match node.body[0], other:
        case ast.Return(value=then), ast.Return(value=last) if then is not None and last is not None:
            where, end = locate_statement(scene.source, node), locate_statement(scene.source, other)
            if where is None or end is None or where.word:
                return None
            text, price = _render_choice(scene, node.test, then, last), 2.0 + _penalise_last_guard(place, number)
            return _make_rewrite(scene, where, (node.lineno, end.last), f"return {text}", price) if text else None
        case _:
            return None


def _penalise_last_guard(place: StatementList, number: int) -> float:
    """Return a penalty for the last of several guards, which reads better as a guard."""
    return 2.0 if number and isinstance(place.statements[number - 1], ast.If) else 0.0


def _return_truth_value(scene: RewriteTarget, test: ast.expr, then: ast.expr, other: ast.expr) -> str | None:
    """Return the condition for `return True` or `return False`, if the test is surely a bool."""
    match then, other:
        case ast.Constant(value=True), ast.Constant(value=False) if is_surely_bool(test, scene):
            return render_on_one_line(scene.source, test)
        case ast.Constant(value=False), ast.Constant(value=True) if is_surely_bool(test, scene) and not _is_unsure_negation(
            test, scene
        ):
            return negate_condition(scene.source, test)
        case _:
            return None


def _is_unsure_negation(test: ast.expr, scene: RewriteTarget) -> bool:
    """Whether the test is `not x` and x itself may not be a bool."""
    return isinstance(test, ast.UnaryOp) and not is_surely_bool(test.operand, scene)


def _use_fallback(scene: RewriteTarget, node: ast.If) -> ProposedRewrite | None:
    """Rewrite `if not x: x = y` as `x = x or y`, or another test as a conditional expression if the test or the value uses x."""
    match node.body[0]:
        case ast.Assign(targets=[ast.Name(id=name)], value=value) if not node.orelse:
            where = locate_statement(scene.source, node)
            if where is None or where.word or scene.watched(frozenset({name})) or name not in scene.known_before(node):
                return None
            return _keep_or_replace(scene, node, where, name, value)
        case _:
            return None


def _keep_or_replace(
    scene: RewriteTarget, node: ast.If, where: StatementLines, name: str, value: ast.expr
) -> ProposedRewrite | None:
    text, span = render_on_one_line(scene.source, value), (node.lineno, where.last)
    match node.test:
        case ast.UnaryOp(op=ast.Not(), operand=ast.Name(id=asked)) if (
            asked == name and text and not isinstance(value, UNFIT_NODES)
        ):
            return (
                _make_rewrite(scene, where, span, f"{name} = {name} or {text}", 1.0)
                if not has_mention_of([value], name)
                else None
            )
        case _ if (
            text
            and len(text) <= MAX_REPLACED_VALUE_CHARACTERS
            and _is_simple_test(node.test)
            and _is_about_name(name, node.test, value)
        ):
            line = _render_choice(scene, node.test, value, ast.Name(name, ast.Load()), name)
            return _make_rewrite(scene, where, span, f"{name} = {line}", 3.0) if line else None
        case _:
            return None


def _is_about_name(name: str, test: ast.expr, value: ast.expr) -> bool:
    return has_mention_of([test], name) or (isinstance(value, ast.Call) and has_mention_of([value], name))


def _is_simple_test(test: ast.expr) -> bool:
    return not isinstance(test, ast.BoolOp) and not (isinstance(test, ast.Compare) and len(test.ops) > 1)


def _choose_appended_value(scene: RewriteTarget, node: ast.If) -> ProposedRewrite | None:
    """Rewrite `items.append(a)` in one branch and `items.append(b)` in the other, if `items` is surely a list."""
    match node.body, node.orelse:
        case [ast.Expr(value=ast.Call() as then)], [ast.Expr(value=ast.Call() as other)]:
            where, values = locate_statement(scene.source, node), [*then.args, *other.args]
            alike = is_same_code(then.func, other.func) and len(values) == 2 and not then.keywords and not other.keywords
            if where is None or where.word or not alike or not _is_list_append(scene, node, then.func):
                return None
            text, called = _render_choice(scene, node.test, values[0], values[1]), render_on_one_line(scene.source, then.func)
            return _make_rewrite(scene, where, (node.lineno, where.last), f"{called}({text})", 2.0) if text else None
        case _:
            return None


def _is_list_append(scene: RewriteTarget, node: ast.If, func: ast.expr) -> bool:
    match func:
        case ast.Attribute(value=ast.Name(id=name), attr="append") if name in scene.known_before(node):
            values = scene.values(name)
            return bool(values) and all(isinstance(value, ast.List | ast.ListComp) for value in values or [])
        case _:
            return False


def _join_preset_value(scene: RewriteTarget, place: StatementList, number: int) -> ProposedRewrite | None:
    """Rewrite `x = b` followed by `if c: x = a`, if evaluating b has no effect."""
    node, before = place.statements[number], place.statements[number - 1] if number else None
    assert isinstance(node, ast.If)
    match before, node.body[0]:
        case ast.Assign(targets=[ast.Name(id=name)], value=first), ast.Assign(targets=[ast.Name(id=again)], value=value) if (
            name == again
        ):
            where, above = locate_statement(scene.source, node), locate_statement(scene.source, before)
            if where is None or above is None or node.orelse or not is_harmless(first, scene.known_before(before)):
                return None
            names = frozenset({name})
            if has_mention_of([node.test, value], name) or scene.watched(names) or scene.half_done(names, node, before):
                return None
            text = _render_choice(scene, node.test, value, first)
            return _make_rewrite(scene, above, (above.first, where.last), f"{name} = {text}", 2.0) if text else None
        case _:
            return None


def _render_choice(scene: RewriteTarget, test: ast.expr, then: ast.expr, other: ast.expr, kept: str | None = None) -> str | None:
    """Return `a if c else b`, or `c or b` where a is c; None if it would be hard to read."""
    if (truth := _return_truth_value(scene, test, then, other)) is not None:
        return truth
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test, then, other = test.operand, other, then
    parts = [
        kept if kept and not hasattr(node, "lineno") else render_on_one_line(scene.source, node) for node in (then, test, other)
    ]
    if any(isinstance(node, UNFIT_NODES) for root in (then, test, other) for node in ast.walk(root)) or None in parts:
        return None
    if isinstance(test, ast.BoolOp) and len(test.values) > 2:
        return None
    if isinstance(test, ast.Name) and is_same_code(test, then):
        text, node = f"{parts[1]} or {parts[2]}", ast.BoolOp(ast.Or(), [test, other])
    else:
        text, node = f"{parts[0]} if {parts[1]} else {parts[2]}", ast.IfExp(test, then, other)
    return text if is_text_of(text, node) else None


def _make_rewrite(
    scene: RewriteTarget, where: StatementLines, span: tuple[int, int], line: str, price: float
) -> ProposedRewrite | None:
    indent = where.indent
    notes = lift_comments(scene.source, span[0], span[1], indent)
    if notes is None or len(notes) > 2 or len(indent + line) > min(MAX_EXPRESSION_CHARACTERS, detect_line_width(scene.source)):
        return None
    lines = (*notes, indent + line)
    head = f"choose by a conditional expression: `{line[:60]}`"
    crowd = 1.0 if len(line) > 80 else 0.0
    return ProposedRewrite(
        "conditional expression", head, (LineSplice(span[0], span[1] + 1, lines),), span, price + crowd + 0.5 * len(notes)
    )
