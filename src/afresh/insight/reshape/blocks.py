"""Runs of statements inside a function that could become a function of their own."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from afresh.insight.complexity import FunctionNode, count_decision_points
from afresh.insight.source import PythonFunction, PythonSource


@dataclass(frozen=True, slots=True, eq=False)
class StatementList:
    """A list of statements and where control goes after its end."""

    statements: list[ast.stmt]
    parent: ast.stmt | ast.ExceptHandler | ast.match_case
    ends_function: bool
    ends_loop: bool


@dataclass(frozen=True, slots=True, eq=False)
class StatementBlock:
    place: StatementList
    start: int
    stop: int
    first_line: int
    """Comments directly above the first statement belong to it."""
    last_line: int
    cost: int

    @property
    def statements(self) -> list[ast.stmt]:
        return self.place.statements[self.start : self.stop]

    @property
    def at_end(self) -> bool:
        return self.stop == len(self.place.statements)

    @property
    def whole(self) -> bool:
        return self.start == 0 and self.at_end

    @property
    def lines(self) -> int:
        return self.last_line - self.first_line + 1


def find_blocks(function: PythonFunction, source: PythonSource) -> Iterator[StatementBlock]:
    """Every run of statements that decides something and owns its lines, but not the whole function."""
    for place in find_statement_lists(function.node):
        costs = [count_decision_points([statement]) for statement in place.statements]
        for start in range(_first_statement_index(place), len(place.statements)):
            for stop in range(start + 1, len(place.statements) + 1):
                spent = sum(costs[start:stop])
                if spent and spent + 1 < function.complexity and (block := _make_block(source, place, start, stop, spent)):
                    yield block


def _first_statement_index(place: StatementList) -> int:
    first = place.statements[0]
    documented = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)
    return int(documented and isinstance(place.parent, FunctionNode))


def _make_block(source: PythonSource, place: StatementList, start: int, stop: int, spent: int) -> StatementBlock | None:
    first, last = place.statements[start], place.statements[stop - 1]
    head = find_first_line(first)
    before = source.line(head)[: len(source.line(head)) - len(source.line(head).lstrip())]
    indent = len(source.line(first.lineno).encode()[: first.col_offset].decode())
    tail = source.line(last.end_lineno or last.lineno).encode()[last.end_col_offset :].decode().strip()
    alone = len(before) == indent and (not tail or tail.startswith("#"))
    if not alone or source.line(first.lineno)[indent:].startswith("elif"):
        return None
    floor = place.statements[start - 1].end_lineno if start else getattr(place.parent, "lineno", 1)
    while head - 1 > (floor or 1) and source.line(head - 1).startswith(before + "#"):
        head -= 1
    return StatementBlock(place, start, stop, head, last.end_lineno or last.lineno, spent)


def count_paragraph_breaks(block: StatementBlock, source: PythonSource) -> int:
    """How often a blank line parts the block's own statements."""
    pairs = pairwise(block.statements)
    return sum(any(not source.line(at).strip() for at in range((one.end_lineno or 0) + 1, two.lineno)) for one, two in pairs)


def find_first_line(statement: ast.stmt) -> int:
    decorators = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(decorator.lineno for decorator in decorators)])


def find_statement_lists(function: FunctionNode) -> Iterator[StatementList]:
    yield from _walk_statement_lists(StatementList(function.body, function, True, False))


def _walk_statement_lists(place: StatementList) -> Iterator[StatementList]:
    yield place
    for number, statement in enumerate(place.statements, 1):
        for inner in _lists_inside_statement(statement, place, number == len(place.statements)):
            if inner.statements:
                yield from _walk_statement_lists(inner)


def _lists_inside_statement(statement: ast.stmt, place: StatementList, last: bool) -> Iterator[StatementList]:
    function, loop = place.ends_function and last, place.ends_loop and last
    match statement:
        case ast.If() | ast.With() | ast.AsyncWith():
            yield StatementList(statement.body, statement, function, loop)
            if isinstance(statement, ast.If):
                yield StatementList(statement.orelse, statement, function, loop)
        case ast.For() | ast.AsyncFor() | ast.While():
            yield StatementList(statement.body, statement, False, True)
            yield StatementList(statement.orelse, statement, function, loop)
        case ast.Try() | ast.TryStar():
            plain = not statement.orelse
            yield StatementList(statement.body, statement, function and plain, loop and plain)
            for handler in statement.handlers:
                yield StatementList(handler.body, handler, function, loop)
            yield StatementList(statement.orelse, statement, function, loop)
            yield StatementList(statement.finalbody, statement, False, False)
        case ast.Match():
            for case in statement.cases:
                yield StatementList(case.body, case, function, loop)
        case _:
            return
