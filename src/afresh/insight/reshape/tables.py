"""A row of comparisons of one value with constants as a table to look it up in."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from afresh.insight.reshape.blocks import Block, Place
from afresh.insight.reshape.edits import Splice
from afresh.insight.reshape.extracting import words
from afresh.insight.reshape.extraction import Extraction, Shape
from afresh.insight.reshape.hashing import surely_hashable
from afresh.insight.reshape.naming import split
from afresh.insight.reshape.render import home, widest
from afresh.insight.reshape.scene import Scene
from afresh.insight.reshape.suggestion import Change
from afresh.insight.reshape.text import lines_of, own, plain, step

FEWEST = 3
"""Cases below which a table says less than the comparisons."""


@dataclass(frozen=True, slots=True)
class Row:
    keys: tuple[ast.Constant, ...]
    body: ast.stmt


@dataclass(frozen=True, slots=True)
class Cases:
    subject: str
    rows: tuple[Row, ...]
    other: list[ast.stmt]

    @property
    def values(self) -> list[ast.expr]:
        return [value for row in self.rows if (value := _value(row.body)) is not None]


def tables(scene: Scene) -> Iterator[Change]:
    for place, number, statement in scene.pairs():
        if isinstance(statement, ast.If) and (cases := _cases(statement)) and surely_hashable(scene, cases.subject):
            yield from filter(None, [_change(scene, place, number, cases)])


def _cases(node: ast.If) -> Cases | None:
    """All tests ask the same name, all keys are of one kind, and every branch is one statement of the same form."""
    rows: list[Row] = []
    subjects: set[str] = set()
    other: list[ast.stmt] = [node]
    while len(other) == 1 and isinstance(case := other[0], ast.If) and (asked := _asked(case.test)) and len(case.body) == 1:
        subjects.add(asked[0])
        rows.append(Row(asked[1], case.body[0]))
        other = case.orelse
    kinds = {type(key.value) for row in rows for key in row.keys}
    if len(rows) < FEWEST or len(subjects) != 1 or kinds not in ({str}, {int}):
        return None
    alike = all(_form(row.body) is not None and _form(row.body) == _form(rows[0].body) for row in rows)
    return Cases(subjects.pop(), tuple(rows), other) if alike else None


def _asked(test: ast.expr) -> tuple[str, tuple[ast.Constant, ...]] | None:
    match test:
        case ast.Compare(left=ast.Name(id=name), ops=[ast.Eq()], comparators=[ast.Constant() as key]):
            return name, (key,)
        case ast.Compare(
            left=ast.Name(id=name), ops=[ast.In()], comparators=[ast.Tuple(elts=keys) | ast.List(elts=keys) | ast.Set(elts=keys)]
        ):
            constants = tuple(key for key in keys if isinstance(key, ast.Constant))
            return (name, constants) if constants and len(constants) == len(keys) else None
        case _:
            return None


def _form(body: ast.stmt) -> str | None:
    """`return` or the target, for a branch that gives a constant."""
    value = _value(body)
    if value is None or not _constant(value):
        return None
    match body:
        case ast.Return():
            return "return"
        case ast.Assign(targets=[ast.Name(id=name)]):
            return f"{name} ="
        case _:
            return None


def _value(body: ast.stmt) -> ast.expr | None:
    return body.value if isinstance(body, ast.Return | ast.Assign) else None


def _constant(value: ast.expr) -> bool:
    if isinstance(value, ast.Tuple):
        return all(map(_constant, value.elts))
    signed = isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.USub) and isinstance(value.operand, ast.Constant)
    return signed or isinstance(value, ast.Constant)


def _change(scene: Scene, place: Place, number: int, cases: Cases) -> Change | None:
    node, source = place.statements[number], scene.source
    where = lines_of(source, node)
    if where is None or where.word or not plain(source, where.first, where.last):
        return None
    name = _name(scene, cases)
    block = Block(place, number, number + 1, where.first, where.last, len(cases.rows))
    put = home(Extraction(scene.host, block, Shape.CALL, (), (), False), source)
    found = _looked_up(scene, place, number, cases, name)
    entries = _entries(scene, cases)
    if put is None or put.indent or put.after or found is None or entries is None:
        return None
    lines, stop = found
    made = [f"{name} = {{", *(step(source) + entry for entry in entries), "}", "", ""]
    if max(map(len, [*made, *(where.indent + line for line in lines)])) > widest(source):
        return None
    splices = (
        Splice(where.first, stop + 1, tuple(where.indent + line for line in lines)),
        Splice(put.line, put.line, tuple(made)),
    )
    return Change("table", f"look {cases.subject} up in a table {name}", splices, (where.first, stop), 1.5)


def _looked_up(scene: Scene, place: Place, number: int, cases: Cases, table: str) -> tuple[list[str], int] | None:
    """The lines that use the table, and the last line that they replace."""
    node, form, subject = place.statements[number], _form(cases.rows[0].body), cases.subject
    last, lead = node.end_lineno or 0, form if form != "return" else "return"
    other = cases.other
    if not other and form == "return" and number + 1 < len(place.statements):
        other = place.statements[number + 1 : number + 2]
        last = other[0].end_lineno or 0
        if lines_of(scene.source, other[0]) is None or not plain(scene.source, node.lineno, last):
            other = []
    default = _value(other[0]) if len(other) == 1 else None
    if default is not None and _constant(default) and _form(other[0]) == form:
        shown = own(scene.source, default)
        nothing = isinstance(default, ast.Constant) and default.value is None
        return [f"{lead} {table}.get({subject}{'' if nothing else f', {shown}'})"], last
    if cases.other:
        return None
    return [f"if {subject} in {table}:", f"{step(scene.source)}{lead} {table}[{subject}]"], node.end_lineno or 0


def _entries(scene: Scene, cases: Cases) -> list[str] | None:
    """The first of two equal keys counts, as it did in the row of comparisons."""
    found: dict[object, str] = {}
    for row, value in zip(cases.rows, cases.values, strict=True):
        text = own(scene.source, value)
        if text is None:
            return None
        if isinstance(value, ast.Tuple) and not text.startswith("("):
            text = f"({text})"
        for key in row.keys:
            found.setdefault(key.value, f"{own(scene.source, key)}: {text},")
    return list(found.values())


def _name(scene: Scene, cases: Cases) -> str:
    """By what is looked up and what it is looked up by."""
    form = _form(cases.rows[0].body) or ""
    what = split(scene.function.node.name) if form == "return" else split(form.rstrip(" ="))
    base = "_".join(["", *(word.upper() for word in (*what[-3:], "by", *split(cases.subject)))])
    return next(
        name for name in (base, f"{base}_TABLE", *(f"{base}_{n}" for n in range(2, 99))) if name not in words(scene.source.text)
    )
