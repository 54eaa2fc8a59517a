"""Rewrites a chain of comparisons of one value with constants as a lookup table."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from afresh.code.refactoring.blocks import StatementBlock, StatementList
from afresh.code.refactoring.identifier_words import collect_words, split_identifier
from afresh.code.refactoring.plan_extraction import Extraction, ExtractionShape
from afresh.code.refactoring.render_extraction import place_helper
from afresh.code.refactoring.rewrite_target import RewriteTarget
from afresh.code.refactoring.source_text import (
    detect_indent_step,
    has_no_comments,
    locate_statement,
    render_on_one_line,
)
from afresh.code.refactoring.suggestion import LineSplice, ProposedRewrite

HASHABLE_TYPE_NAMES = {"str", "int", "bytes", "bool", "float", "None"}
TEXT_METHODS = {"capitalize", "casefold", "format", "join", "lower", "lstrip", "replace", "rstrip", "strip", "title", "upper"}
TEXT_ATTRIBUTES = ("sys.platform", "os.name", ".__name__", ".__qualname__", ".__class__")
HASHABLE_MAKING_FUNCTIONS = {"str", "repr", "len", "type", "ord", "chr", "int", "bool", "id", "hash", "ascii", "bytes"}


def is_surely_hashable(scene: RewriteTarget, name: str) -> bool:
    """Whether a local name only ever holds strings, numbers and the like, by its declared type or by all assigned values."""
    if name not in scene.host.names or name in scene.host.unsteady | scene.host.declared:
        return False
    annotation = scene.host.annotations.get(name)
    if annotation is not None and _is_hashable_type(annotation):
        return True
    values = scene.values(name)
    return bool(values) and all(_makes_hashable(scene, value) for value in values or [])


def _is_hashable_type(annotation: ast.expr) -> bool:
    match annotation:
        case ast.Name(id=name):
            return name in HASHABLE_TYPE_NAMES
        case ast.Constant(value=value):
            return value is None or all(part.strip() in HASHABLE_TYPE_NAMES for part in str(value).split("|"))
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return _is_hashable_type(left) and _is_hashable_type(right)
        case ast.Subscript(value=ast.Name(id="Optional") | ast.Attribute(attr="Optional"), slice=inner):
            return _is_hashable_type(inner)
        case ast.Subscript(value=ast.Name(id="Literal") | ast.Attribute(attr="Literal")):
            return True
        case _:
            return False


def _makes_hashable(scene: RewriteTarget, value: ast.expr) -> bool:
    match value:
        case ast.Constant() | ast.JoinedStr() | ast.UnaryOp(op=ast.Not()):
            return True
        case ast.BinOp(left=ast.Constant(value=str()), op=ast.Mod() | ast.Add()):
            return True
        case ast.Call(func=func):
            verb = getattr(func, "attr", "") in TEXT_METHODS
            return verb or (isinstance(func, ast.Name) and func.id in HASHABLE_MAKING_FUNCTIONS and scene.builtin(func.id))
        case ast.IfExp(body=one, orelse=other):
            return _makes_hashable(scene, one) and _makes_hashable(scene, other)
        case ast.BoolOp(values=values):
            return all(_makes_hashable(scene, one) for one in values)
        case _:
            return ast.unparse(value).endswith(TEXT_ATTRIBUTES)


MIN_TABLE_CASES = 3
"""With fewer cases the comparisons are easier to read."""


@dataclass(frozen=True, slots=True)
class ComparisonCase:
    keys: tuple[ast.Constant, ...]
    body: ast.stmt


@dataclass(frozen=True, slots=True)
class ComparisonChain:
    subject: str
    rows: tuple[ComparisonCase, ...]
    other: list[ast.stmt]

    @property
    def values(self) -> list[ast.expr]:
        return [value for row in self.rows if (value := _branch_value(row.body)) is not None]


def make_lookup_tables(scene: RewriteTarget) -> Iterator[ProposedRewrite]:
    for place, number, statement in scene.pairs():
        if (
            isinstance(statement, ast.If)
            and (cases := _match_comparisons(statement))
            and is_surely_hashable(scene, cases.subject)
        ):
            yield from filter(None, [_make_rewrite(scene, place, number, cases)])


def _match_comparisons(node: ast.If) -> ComparisonChain | None:
    """Return the chain if all tests compare the same name, all keys are of one type, and every branch is one statement of the
    same form.
    """
    rows: list[ComparisonCase] = []
    subjects: set[str] = set()
    other: list[ast.stmt] = [node]
    while len(other) == 1 and isinstance(case := other[0], ast.If) and (asked := _match_test(case.test)) and len(case.body) == 1:
        subjects.add(asked[0])
        rows.append(ComparisonCase(asked[1], case.body[0]))
        other = case.orelse
    kinds = {type(key.value) for row in rows for key in row.keys}
    if len(rows) < MIN_TABLE_CASES or len(subjects) != 1 or kinds not in ({str}, {int}):
        return None
    alike = all(_branch_form(row.body) is not None and _branch_form(row.body) == _branch_form(rows[0].body) for row in rows)
    return ComparisonChain(subjects.pop(), tuple(rows), other) if alike else None


def _match_test(test: ast.expr) -> tuple[str, tuple[ast.Constant, ...]] | None:
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


def _branch_form(body: ast.stmt) -> str | None:
    """Return `return` or the assignment target of a branch that gives a constant; None for other branches."""
    value = _branch_value(body)
    if value is None or not _is_constant(value):
        return None
    match body:
        case ast.Return():
            return "return"
        case ast.Assign(targets=[ast.Name(id=name)]):
            return f"{name} ="
        case _:
            return None


def _branch_value(body: ast.stmt) -> ast.expr | None:
    return body.value if isinstance(body, ast.Return | ast.Assign) else None


def _is_constant(value: ast.expr) -> bool:
    if isinstance(value, ast.Tuple):
        return all(map(_is_constant, value.elts))
    signed = isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.USub) and isinstance(value.operand, ast.Constant)
    return signed or isinstance(value, ast.Constant)


def _make_rewrite(scene: RewriteTarget, place: StatementList, number: int, cases: ComparisonChain) -> ProposedRewrite | None:
    node, source = place.statements[number], scene.source
    where = locate_statement(source, node)
    if where is None or where.word or not has_no_comments(source, where.first, where.last):
        return None
    name = _choose_table_name(scene, cases)
    block = StatementBlock(place, number, number + 1, where.first, where.last, len(cases.rows))
    put = place_helper(Extraction(scene.host, block, ExtractionShape.CALL, (), (), False), source)
    found = _render_lookup(scene, place, number, cases, name)
    entries = _render_entries(scene, cases)
    if put is None or put.indent or put.after or found is None or entries is None:
        return None
    lines, stop = found
    made = [f"{name} = {{", *(detect_indent_step(source) + entry for entry in entries), "}", "", ""]
    if max(map(len, [*made, *(where.indent + line for line in lines)])) > source.layout.line_width:
        return None
    splices = (
        LineSplice(where.first, stop + 1, tuple(where.indent + line for line in lines)),
        LineSplice(put.line, put.line, tuple(made)),
    )
    return ProposedRewrite("table", f"look {cases.subject} up in a table {name}", splices, (where.first, stop), 1.5)


def _render_lookup(
    scene: RewriteTarget, place: StatementList, number: int, cases: ComparisonChain, table: str
) -> tuple[list[str], int] | None:
    """Return the lines that use the table, and the last line that they replace."""
    node, form, subject = place.statements[number], _branch_form(cases.rows[0].body), cases.subject
    last, lead = node.end_lineno or 0, form if form != "return" else "return"
    other = cases.other
    if not other and form == "return" and number + 1 < len(place.statements):
        other = place.statements[number + 1 : number + 2]
        last = other[0].end_lineno or 0
        if locate_statement(scene.source, other[0]) is None or not has_no_comments(scene.source, node.lineno, last):
            other = []
    default = _branch_value(other[0]) if len(other) == 1 else None
    if default is not None and _is_constant(default) and _branch_form(other[0]) == form:
        shown = render_on_one_line(scene.source, default)
        nothing = isinstance(default, ast.Constant) and default.value is None
        return [f"{lead} {table}.get({subject}{'' if nothing else f', {shown}'})"], last
    if cases.other:
        return None
    return [f"if {subject} in {table}:", f"{detect_indent_step(scene.source)}{lead} {table}[{subject}]"], node.end_lineno or 0


def _render_entries(scene: RewriteTarget, cases: ComparisonChain) -> list[str] | None:
    """Return the table's entries. Of two equal keys the first is used, as in the comparisons."""
    found: dict[object, str] = {}
    for row, value in zip(cases.rows, cases.values, strict=True):
        text = render_on_one_line(scene.source, value)
        if text is None:
            return None
        if isinstance(value, ast.Tuple) and not text.startswith("("):
            text = f"({text})"
        for key in row.keys:
            found.setdefault(key.value, f"{render_on_one_line(scene.source, key)}: {text},")
    return list(found.values())


def _choose_table_name(scene: RewriteTarget, cases: ComparisonChain) -> str:
    """Return a name made from what is looked up and by what."""
    form = _branch_form(cases.rows[0].body) or ""
    what = split_identifier(scene.function.node.name) if form == "return" else split_identifier(form.rstrip(" ="))
    base = "_".join(["", *(word.upper() for word in (*what[-3:], "by", *split_identifier(cases.subject)))])
    return next(
        name
        for name in (base, f"{base}_TABLE", *(f"{base}_{n}" for n in range(2, 99)))
        if name not in collect_words(scene.source.text)
    )
