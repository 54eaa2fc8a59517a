"""Rewrites loops that only search or only collect as one expression."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from afresh.code.refactoring.name_usage import NameSet, collect_name_uses
from afresh.code.refactoring.rewrite_target import RewriteTarget, has_mention_of, has_next_call, has_suspending_node, is_harmless
from afresh.code.refactoring.source_text import (
    StatementLines,
    detect_indent_step,
    lift_comments,
    locate_statement,
    negate_condition,
    render_on_one_line,
)
from afresh.code.refactoring.suggestion import LineSplice, ProposedRewrite


@dataclass(frozen=True, slots=True)
class LoopPattern:
    """One or two nested `for` loops and the one condition of their single statement."""

    loops: tuple[ast.For, ...]
    test: ast.expr | None
    unless: bool
    """Whether the condition skips the element."""
    leaf: list[ast.stmt]

    @property
    def targets(self) -> NameSet:
        return frozenset(name for loop in self.loops for name in collect_name_uses(loop.target).binds)


def replace_loops(scene: RewriteTarget) -> Iterator[ProposedRewrite]:
    for place, number, statement in scene.pairs():
        if isinstance(statement, ast.For) and (walk := _match_loop(statement)):
            before = place.statements[number - 1] if number else None
            after = place.statements[number + 1] if number + 1 < len(place.statements) else None
            found = (
                _replace_returning_search(scene, walk, after),
                _replace_flag_search(scene, walk, before),
                _replace_collecting_loop(scene, walk, before),
            )
            yield from filter(None, found)


def _match_loop(loop: ast.For) -> LoopPattern | None:
    loops: list[ast.For] = []
    body: list[ast.stmt] = [loop]
    while len(body) == 1 and isinstance(body[0], ast.For) and not body[0].orelse and body[0].type_comment is None:
        loops.append(body[0])
        body = body[0].body
    if not loops or len(loops) > 2:
        return None
    match body:
        case [ast.If(test=test, body=inside, orelse=[])]:
            return LoopPattern(tuple(loops), test, False, inside)
        case [ast.If(test=test, body=[ast.Continue()], orelse=[]), *rest]:
            return LoopPattern(tuple(loops), test, True, rest)
        case _:
            return LoopPattern(tuple(loops), None, False, body)


def _can_move_into_expression(scene: RewriteTarget, walk: LoopPattern, *parts: ast.expr) -> bool:
    """Whether it means the same in a comprehension's scope, and the loop's variables are not used outside."""
    every = [*parts, *(loop.iter for loop in walk.loops), *([walk.test] if walk.test else [])]
    if (
        has_suspending_node(*every)
        or scene.needs_own_frame(every)
        or has_next_call(*every)
        or any(not isinstance(loop.target, ast.Name | ast.Tuple) for loop in walk.loops)
    ):
        return False
    first = walk.loops[0]
    read = frozenset(node.id for root in every for node in ast.walk(root) if isinstance(node, ast.Name)) & scene.host.names
    if not read - walk.targets <= scene.known_before(first):
        return False
    repeated = sum(len(collect_name_uses(loop.target).binds) for loop in walk.loops) > len(walk.targets)
    shadowed = has_mention_of([first.iter], *walk.targets)
    return not repeated and not shadowed and scene.forgettable(walk.targets, first, first)


def _replace_returning_search(scene: RewriteTarget, walk: LoopPattern, after: ast.stmt | None) -> ProposedRewrite | None:
    """Rewrite `return True` in the loop and `return False` after it, or the reverse."""
    match walk.leaf, after:
        case [ast.Return(value=ast.Constant(value=bool(found)))], ast.Return(value=ast.Constant(value=bool(other))) if (
            found is not other
        ):
            first, last = locate_statement(scene.source, walk.loops[0]), locate_statement(scene.source, after)
            text = _render_any_or_all(scene, walk, found)
            return _make_rewrite(scene, first, last, ["return ", text], "search", 1.0) if first and last and text else None
        case _:
            return None


def _replace_flag_search(scene: RewriteTarget, walk: LoopPattern, before: ast.stmt | None) -> ProposedRewrite | None:
    """Rewrite `found = False` before the loop with `found = True` and `break` in it. Without `break` the loop would go on, and
    what it does then would be lost.
    """
    match before, walk.leaf:
        case (
            ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=bool(at_first))),
            [ast.Assign(targets=[ast.Name(id=again)], value=ast.Constant(value=bool(found))), *rest],
        ) if name == again and found is not at_first and len(walk.loops) == 1 and [type(one) for one in rest] == [ast.Break]:
            first, last = locate_statement(scene.source, before), locate_statement(scene.source, walk.loops[0])
            names = frozenset({name})
            every = [walk.loops[0].iter, *([walk.test] if walk.test else [])]
            if has_mention_of(every, name) or scene.watched(names) or scene.half_done(names, before, walk.loops[0]):
                return None
            text = _render_any_or_all(scene, walk, found)
            return _make_rewrite(scene, first, last, [f"{name} = ", text], "search", 1.0) if first and last and text else None
        case _:
            return None


def _render_any_or_all(scene: RewriteTarget, walk: LoopPattern, found: bool) -> list[str] | None:
    """Return `any(… for …)`, or `all` or `not any` if the loop looks for a counterexample."""
    if walk.test is None or not _can_move_into_expression(scene, walk) or not scene.builtin("any") or not scene.builtin("all"):
        return None
    clauses = _render_for_clauses(scene, walk)
    plain, contrary = render_on_one_line(scene.source, walk.test), negate_condition(scene.source, walk.test)
    if clauses is None or plain is None or contrary is None:
        return None
    if walk.unless:
        plain, contrary = contrary, plain
    if found:
        return ["any(", plain, *clauses, ")"]
    negative = isinstance(walk.test, ast.UnaryOp | ast.Compare) and not contrary.startswith("not ")
    return ["all(", contrary, *clauses, ")"] if negative else ["not any(", plain, *clauses, ")"]


def _render_for_clauses(scene: RewriteTarget, walk: LoopPattern) -> list[str] | None:
    found: list[str] = []
    for loop in walk.loops:
        target, iterable = render_on_one_line(scene.source, loop.target), render_on_one_line(scene.source, loop.iter)
        if target is None or iterable is None:
            return None
        loose = isinstance(loop.iter, ast.IfExp) or (isinstance(loop.iter, ast.Tuple) and not iterable.startswith("("))
        found.append(f"for {target} in {f'({iterable})' if loose else iterable}")
    return found


def _replace_collecting_loop(scene: RewriteTarget, walk: LoopPattern, before: ast.stmt | None) -> ProposedRewrite | None:
    """Rewrite an empty list, set or dict followed by a loop that only fills it."""
    fresh = _match_empty_collection(scene, before)
    if fresh is None or before is None or len(walk.leaf) != 1:
        return None
    name, kind = fresh
    parts = _match_added_element(walk.leaf[0], name, kind, scene.known_before(walk.loops[0]) | walk.targets)
    names = frozenset({name})
    loop = walk.loops[0]
    if (
        parts is None
        or scene.watched(names)
        or scene.half_done(names, before, loop)
        or not _can_move_into_expression(scene, walk, *parts)
    ):
        return None
    every = [*parts, *(one.iter for one in walk.loops), *([walk.test] if walk.test else [])]
    text, clauses = [render_on_one_line(scene.source, part) for part in parts], _render_for_clauses(scene, walk)
    first, last = locate_statement(scene.source, before), locate_statement(scene.source, loop)
    if has_mention_of(every, name) or None in text or clauses is None or first is None or last is None:
        return None
    if walk.test is not None:
        asked = negate_condition(scene.source, walk.test) if walk.unless else render_on_one_line(scene.source, walk.test)
        if asked is None or isinstance(walk.test, ast.IfExp):
            return None
        clauses.append(f"if {asked}")
    opening, closing = ("[", "]") if kind == "list" else ("{", "}")
    head = scene.source.line(before.lineno).strip().split("=")[0].rstrip()
    return _make_rewrite(
        scene, first, last, [f"{head} = ", [opening, ": ".join(map(str, text)), *clauses, closing]], "comprehension", 1.0
    )


def _match_empty_collection(scene: RewriteTarget, before: ast.stmt | None) -> tuple[str, str] | None:
    match before:
        case ast.Assign(targets=[ast.Name(id=name)], value=value) | ast.AnnAssign(target=ast.Name(id=name), value=value):
            pass
        case _:
            return None
    match value:
        case ast.List(elts=[]):
            return name, "list"
        case ast.Dict(keys=[]):
            return name, "dict"
        case ast.Call(func=ast.Name(id=("list" | "dict" | "set") as kind), args=[], keywords=[]) if scene.builtin(kind):
            return name, kind
        case _:
            return None


def _match_added_element(leaf: ast.stmt, name: str, kind: str, known: NameSet) -> list[ast.expr] | None:
    """Return what the statement adds; for a dict, key and value, one of which must have no effect because their order changes."""
    match leaf:
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=to), attr=verb), args=[part], keywords=[])):
            fits = to == name and (kind, verb) in (("list", "append"), ("set", "add"))
            return [part] if fits and not isinstance(part, ast.Starred | ast.IfExp) else None
        case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=to), slice=key)], value=value) if to == name and kind == "dict":
            plain = is_harmless(key, known) or is_harmless(value, known)
            return [key, value] if plain and not isinstance(key, ast.Slice | ast.Starred) else None
        case _:
            return None


def _make_rewrite(
    scene: RewriteTarget, first: StatementLines, last: StatementLines, made: list, kind: str, price: float
) -> ProposedRewrite | None:  # type: ignore[type-arg]
    lead, parts = made
    opening, *inner, closing = parts
    indent, notes = first.indent, lift_comments(scene.source, first.first, last.last, first.indent)
    if notes is None or len(notes) > 2:
        return None
    line = f"{indent}{lead}{opening}{' '.join(inner)}{closing}"
    lines = [line]
    if len(line) > scene.source.layout.line_width:
        deeper = indent + detect_indent_step(scene.source)
        lines = [f"{indent}{lead}{opening}", *(deeper + part for part in inner), f"{indent}{closing}"]
        price += 0.5
    if max(map(len, lines)) > scene.source.layout.line_width or len(lines) > 6:
        return None
    span = (first.first, last.last)
    head = f"say by one expression what the loop does: `{line.strip()[:60]}`"
    return ProposedRewrite(kind, head, (LineSplice(span[0], span[1] + 1, (*notes, *lines)),), span, price + 0.5 * len(notes))
