"""Loops that only look for something or only collect, as the expression that says so."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from afresh.insight.reshape.edits import Splice
from afresh.insight.reshape.names import Names, uses
from afresh.insight.reshape.render import widest
from afresh.insight.reshape.scene import Scene, harmless, mentions, steps, suspends
from afresh.insight.reshape.suggestion import Change
from afresh.insight.reshape.text import Lines, lifted, lines_of, opposite, own, step


@dataclass(frozen=True, slots=True)
class Walk:
    """`for … in …`, perhaps two of them, and the one condition that its single statement stands under."""

    loops: tuple[ast.For, ...]
    test: ast.expr | None
    unless: bool
    """The condition skips."""
    leaf: list[ast.stmt]

    @property
    def targets(self) -> Names:
        return frozenset(name for loop in self.loops for name in uses(loop.target).binds)


def gathered(scene: Scene) -> Iterator[Change]:
    for place, number, statement in scene.pairs():
        if isinstance(statement, ast.For) and (walk := _walk(statement)):
            before = place.statements[number - 1] if number else None
            after = place.statements[number + 1] if number + 1 < len(place.statements) else None
            found = (_returned(scene, walk, after), _flagged(scene, walk, before), _collected(scene, walk, before))
            yield from filter(None, found)


def _walk(loop: ast.For) -> Walk | None:
    loops: list[ast.For] = []
    body: list[ast.stmt] = [loop]
    while len(body) == 1 and isinstance(body[0], ast.For) and not body[0].orelse and body[0].type_comment is None:
        loops.append(body[0])
        body = body[0].body
    if not loops or len(loops) > 2:
        return None
    match body:
        case [ast.If(test=test, body=inside, orelse=[])]:
            return Walk(tuple(loops), test, False, inside)
        case [ast.If(test=test, body=[ast.Continue()], orelse=[]), *rest]:
            return Walk(tuple(loops), test, True, rest)
        case _:
            return Walk(tuple(loops), None, False, body)


def _movable(scene: Scene, walk: Walk, *parts: ast.expr) -> bool:
    """Whether it means the same in a scope of its own, and the loop's variables can stay there."""
    every = [*parts, *(loop.iter for loop in walk.loops), *([walk.test] if walk.test else [])]
    if suspends(*every) or steps(*every) or any(not isinstance(loop.target, ast.Name | ast.Tuple) for loop in walk.loops):
        return False
    first = walk.loops[0]
    read = frozenset(node.id for root in every for node in ast.walk(root) if isinstance(node, ast.Name)) & scene.host.names
    if not read - walk.targets <= scene.known_before(first):
        return False
    repeated = sum(len(uses(loop.target).binds) for loop in walk.loops) > len(walk.targets)
    shadowed = mentions([first.iter], *walk.targets)
    return not repeated and not shadowed and scene.forgettable(walk.targets, first, first)


def _returned(scene: Scene, walk: Walk, after: ast.stmt | None) -> Change | None:
    """`return True` in the loop and `return False` behind it, or the other way round."""
    match walk.leaf, after:
        case [ast.Return(value=ast.Constant(value=bool(found)))], ast.Return(value=ast.Constant(value=bool(other))) if (
            found is not other
        ):
            first, last = lines_of(scene.source, walk.loops[0]), lines_of(scene.source, after)
            text = _whether(scene, walk, found)
            return _change(scene, first, last, ["return ", text], "search", 1.0) if first and last and text else None
        case _:
            return None


def _flagged(scene: Scene, walk: Walk, before: ast.stmt | None) -> Change | None:
    """`found = False` before the loop; `found = True` and `break` in it."""
    match before, walk.leaf:
        case (
            ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=bool(at_first))),
            [ast.Assign(targets=[ast.Name(id=again)], value=ast.Constant(value=bool(found))), *rest],
        ) if (
            name == again and found is not at_first and len(walk.loops) == 1 and [type(one) for one in rest] in ([], [ast.Break])
        ):
            first, last = lines_of(scene.source, before), lines_of(scene.source, walk.loops[0])
            names = frozenset({name})
            every = [walk.loops[0].iter, *([walk.test] if walk.test else [])]
            if mentions(every, name) or scene.watched(names) or scene.half_done(names, before, walk.loops[0]):
                return None
            text = _whether(scene, walk, found)
            return _change(scene, first, last, [f"{name} = ", text], "search", 1.0) if first and last and text else None
        case _:
            return None


def _whether(scene: Scene, walk: Walk, found: bool) -> list[str] | None:
    """`any(… for …)`, or `all` and `not any` where the loop looks for a counterexample."""
    if walk.test is None or not _movable(scene, walk) or not scene.builtin("any") or not scene.builtin("all"):
        return None
    clauses = _clauses(scene, walk)
    plain, contrary = own(scene.source, walk.test), opposite(scene.source, walk.test)
    if clauses is None or plain is None or contrary is None:
        return None
    if walk.unless:
        plain, contrary = contrary, plain
    if found:
        return ["any(", plain, *clauses, ")"]
    negative = isinstance(walk.test, ast.UnaryOp | ast.Compare) and not contrary.startswith("not ")
    return ["all(", contrary, *clauses, ")"] if negative else ["not any(", plain, *clauses, ")"]


def _clauses(scene: Scene, walk: Walk) -> list[str] | None:
    found: list[str] = []
    for loop in walk.loops:
        target, iterable = own(scene.source, loop.target), own(scene.source, loop.iter)
        if target is None or iterable is None:
            return None
        loose = isinstance(loop.iter, ast.IfExp) or (isinstance(loop.iter, ast.Tuple) and not iterable.startswith("("))
        found.append(f"for {target} in {f'({iterable})' if loose else iterable}")
    return found


def _collected(scene: Scene, walk: Walk, before: ast.stmt | None) -> Change | None:
    """An empty list, set or dict, and a loop that does nothing but fill it."""
    fresh = _fresh(scene, before)
    if fresh is None or before is None or len(walk.leaf) != 1:
        return None
    name, kind = fresh
    parts = _element(walk.leaf[0], name, kind, scene.known_before(walk.loops[0]) | walk.targets)
    names = frozenset({name})
    loop = walk.loops[0]
    if parts is None or scene.watched(names) or scene.half_done(names, before, loop) or not _movable(scene, walk, *parts):
        return None
    every = [*parts, *(one.iter for one in walk.loops), *([walk.test] if walk.test else [])]
    text, clauses = [own(scene.source, part) for part in parts], _clauses(scene, walk)
    first, last = lines_of(scene.source, before), lines_of(scene.source, loop)
    if mentions(every, name) or None in text or clauses is None or first is None or last is None:
        return None
    if walk.test is not None:
        asked = opposite(scene.source, walk.test) if walk.unless else own(scene.source, walk.test)
        if asked is None or isinstance(walk.test, ast.IfExp):
            return None
        clauses.append(f"if {asked}")
    opening, closing = ("[", "]") if kind == "list" else ("{", "}")
    head = scene.source.line(before.lineno).strip().split("=")[0].rstrip()
    return _change(
        scene, first, last, [f"{head} = ", [opening, ": ".join(map(str, text)), *clauses, closing]], "comprehension", 1.0
    )


def _fresh(scene: Scene, before: ast.stmt | None) -> tuple[str, str] | None:
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


def _element(leaf: ast.stmt, name: str, kind: str, known: Names) -> list[ast.expr] | None:
    """What the statement adds; for a dict, key and value, of which one is harmless because the order of the two changes."""
    match leaf:
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=to), attr=verb), args=[part], keywords=[])):
            fits = to == name and (kind, verb) in (("list", "append"), ("set", "add"))
            return [part] if fits and not isinstance(part, ast.Starred | ast.IfExp) else None
        case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=to), slice=key)], value=value) if to == name and kind == "dict":
            plain = harmless(key, known) or harmless(value, known)
            return [key, value] if plain and not isinstance(key, ast.Slice | ast.Starred) else None
        case _:
            return None


def _change(scene: Scene, first: Lines, last: Lines, made: list, kind: str, price: float) -> Change | None:  # type: ignore[type-arg]
    lead, parts = made
    opening, *inner, closing = parts
    indent, notes = first.indent, lifted(scene.source, first.first, last.last, first.indent)
    if notes is None or len(notes) > 2:
        return None
    line = f"{indent}{lead}{opening}{' '.join(inner)}{closing}"
    lines = [line]
    if len(line) > widest(scene.source):
        deeper = indent + step(scene.source)
        lines = [f"{indent}{lead}{opening}", *(deeper + part for part in inner), f"{indent}{closing}"]
        price += 0.5
    if max(map(len, lines)) > widest(scene.source) or len(lines) > 6:
        return None
    span = (first.first, last.last)
    head = f"say by one expression what the loop does: `{line.strip()[:60]}`"
    return Change(kind, head, (Splice(span[0], span[1] + 1, (*notes, *lines)),), span, price + 0.5 * len(notes))
