"""Two short branches that only choose a value, as one expression that chooses it."""

import ast
from collections.abc import Iterator

from afresh.insight.reshape.blocks import Place
from afresh.insight.reshape.edits import Splice
from afresh.insight.reshape.render import widest
from afresh.insight.reshape.scene import Scene, harmless, mentions, same, surely_bool
from afresh.insight.reshape.suggestion import Change
from afresh.insight.reshape.text import Lines, lifted, lines_of, opposite, own, reads_as

SHORT = 30
LONGEST = 100
"""Beyond this a conditional expression is harder to read than its branches."""
UNFIT = ast.IfExp | ast.Lambda | ast.NamedExpr | ast.Yield | ast.YieldFrom | ast.Starred | ast.ListComp | ast.DictComp


def conditional_values(scene: Scene) -> Iterator[Change]:
    for place, number, statement in scene.pairs():
        if isinstance(statement, ast.If) and len(statement.body) == 1:
            alone = (_assigned(scene, statement), _fallback(scene, statement), _appended(scene, statement))
            yield from filter(None, (*alone, _returned(scene, place, number), _preset(scene, place, number)))


def _assigned(scene: Scene, node: ast.If) -> Change | None:
    """`x = a` in one branch and `x = b` in the other."""
    match node.body, node.orelse:
        case [ast.Assign() as then], [ast.Assign() as other] if len(then.targets) == len(other.targets) == 1:
            where, target = lines_of(scene.source, node), own(scene.source, then.targets[0])
            if where is None or target is None or not same(then.targets[0], other.targets[0]):
                return None
            text = _choice(scene, node.test, then.value, other.value)
            lead = f"{target} = "
            if where.word:
                return None
            return _change(scene, where, (node.lineno, where.last), lead + text, 1.5) if text else None
        case _:
            return None


def _returned(scene: Scene, place: Place, number: int) -> Change | None:
    """`if c: return a` and then `return b`."""
    node = place.statements[number]
    assert isinstance(node, ast.If)
    other = node.orelse[0] if len(node.orelse) == 1 else None
    if not node.orelse and number + 1 < len(place.statements):
        other = place.statements[number + 1]
    match node.body[0], other:
        case ast.Return(value=then), ast.Return(value=last) if then is not None and last is not None:
            where, end = lines_of(scene.source, node), lines_of(scene.source, other)
            if where is None or end is None or where.word:
                return None
            text, price = _choice(scene, node.test, then, last), 2.0 + _follows(place, number)
            return _change(scene, where, (node.lineno, end.last), f"return {text}", price) if text else None
        case _:
            return None


def _follows(place: Place, number: int) -> float:
    """The last of a row of guards reads better as one of them."""
    return 2.0 if number and isinstance(place.statements[number - 1], ast.If) else 0.0


def _truth(scene: Scene, test: ast.expr, then: ast.expr, other: ast.expr) -> str | None:
    """`return True` or `return False` by a test that is a truth value already."""
    match then, other:
        case ast.Constant(value=True), ast.Constant(value=False) if surely_bool(test, scene):
            return own(scene.source, test)
        case ast.Constant(value=False), ast.Constant(value=True) if surely_bool(test, scene) and not _doubly(test, scene):
            return opposite(scene.source, test)
        case _:
            return None


def _doubly(test: ast.expr, scene: Scene) -> bool:
    """`not x` whose opposite would be x itself, which may be no truth value."""
    return isinstance(test, ast.UnaryOp) and not surely_bool(test.operand, scene)


def _fallback(scene: Scene, node: ast.If) -> Change | None:
    """`if not x: x = y` is `x = x or y`; another test says when x is replaced, if it or the new value speaks of x."""
    match node.body[0]:
        case ast.Assign(targets=[ast.Name(id=name)], value=value) if not node.orelse:
            where = lines_of(scene.source, node)
            if where is None or where.word or scene.watched(frozenset({name})) or name not in scene.known_before(node):
                return None
            return _kept_or(scene, node, where, name, value)
        case _:
            return None


def _kept_or(scene: Scene, node: ast.If, where: Lines, name: str, value: ast.expr) -> Change | None:
    text, span = own(scene.source, value), (node.lineno, where.last)
    match node.test:
        case ast.UnaryOp(op=ast.Not(), operand=ast.Name(id=asked)) if asked == name and text and not isinstance(value, UNFIT):
            return _change(scene, where, span, f"{name} = {name} or {text}", 1.0) if not mentions([value], name) else None
        case _ if text and len(text) <= SHORT and _simple(node.test) and _about(name, node.test, value):
            line = _choice(scene, node.test, value, ast.Name(name, ast.Load()), name)
            return _change(scene, where, span, f"{name} = {line}", 3.0) if line else None
        case _:
            return None


def _about(name: str, test: ast.expr, value: ast.expr) -> bool:
    return mentions([test], name) or (isinstance(value, ast.Call) and mentions([value], name))


def _simple(test: ast.expr) -> bool:
    return not isinstance(test, ast.BoolOp) and not (isinstance(test, ast.Compare) and len(test.ops) > 1)


def _appended(scene: Scene, node: ast.If) -> Change | None:
    """`items.append(a)` in one branch and `items.append(b)` in the other, where the list is surely one."""
    match node.body, node.orelse:
        case [ast.Expr(value=ast.Call() as then)], [ast.Expr(value=ast.Call() as other)]:
            where, values = lines_of(scene.source, node), [*then.args, *other.args]
            alike = same(then.func, other.func) and len(values) == 2 and not then.keywords and not other.keywords
            if where is None or where.word or not alike or not _list_append(scene, node, then.func):
                return None
            text, called = _choice(scene, node.test, values[0], values[1]), own(scene.source, then.func)
            return _change(scene, where, (node.lineno, where.last), f"{called}({text})", 2.0) if text else None
        case _:
            return None


def _list_append(scene: Scene, node: ast.If, func: ast.expr) -> bool:
    match func:
        case ast.Attribute(value=ast.Name(id=name), attr="append") if name in scene.known_before(node):
            values = scene.values(name)
            return bool(values) and all(isinstance(value, ast.List | ast.ListComp) for value in values or [])
        case _:
            return False


def _preset(scene: Scene, place: Place, number: int) -> Change | None:
    """`x = b` and then `if c: x = a`, where making b is nothing."""
    node, before = place.statements[number], place.statements[number - 1] if number else None
    assert isinstance(node, ast.If)
    match before, node.body[0]:
        case ast.Assign(targets=[ast.Name(id=name)], value=first), ast.Assign(targets=[ast.Name(id=again)], value=value) if (
            name == again
        ):
            where, above = lines_of(scene.source, node), lines_of(scene.source, before)
            if where is None or above is None or node.orelse or not harmless(first, scene.known_before(before)):
                return None
            names = frozenset({name})
            if mentions([node.test, value], name) or scene.watched(names) or scene.half_done(names, node, before):
                return None
            text = _choice(scene, node.test, value, first)
            return _change(scene, above, (above.first, where.last), f"{name} = {text}", 2.0) if text else None
        case _:
            return None


def _choice(scene: Scene, test: ast.expr, then: ast.expr, other: ast.expr, kept: str | None = None) -> str | None:
    """`a if c else b`, or `c or b` where a is c; None where it would not read well."""
    if (truth := _truth(scene, test, then, other)) is not None:
        return truth
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test, then, other = test.operand, other, then
    parts = [kept if kept and not hasattr(node, "lineno") else own(scene.source, node) for node in (then, test, other)]
    if any(isinstance(node, UNFIT) for root in (then, test, other) for node in ast.walk(root)) or None in parts:
        return None
    if isinstance(test, ast.BoolOp) and len(test.values) > 2:
        return None
    if isinstance(test, ast.Name) and same(test, then):
        text, node = f"{parts[1]} or {parts[2]}", ast.BoolOp(ast.Or(), [test, other])
    else:
        text, node = f"{parts[0]} if {parts[1]} else {parts[2]}", ast.IfExp(test, then, other)
    return text if reads_as(text, node) else None


def _change(scene: Scene, where: Lines, span: tuple[int, int], line: str, price: float) -> Change | None:
    indent = where.indent
    notes = lifted(scene.source, span[0], span[1], indent)
    if notes is None or len(notes) > 2 or len(indent + line) > min(LONGEST, widest(scene.source)):
        return None
    lines = (*notes, indent + line)
    head = f"choose by a conditional expression: `{line[:60]}`"
    crowd = 1.0 if len(line) > 80 else 0.0
    return Change("conditional expression", head, (Splice(span[0], span[1] + 1, lines),), span, price + crowd + 0.5 * len(notes))
