"""Finds runs of statements inside a function that could become a function of their own."""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from afresh.code.complexity import FunctionNode, LoopNode, count_decision_points
from afresh.code.python_source import PythonFunction, PythonSource
from afresh.code.refactoring.call_stack import reads_call_stack
from afresh.code.refactoring.name_usage import ComprehensionNode, ScopeNode, walk_own_scope


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
    """Includes comments directly above the first statement."""
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
    """Yield every run of statements that contains a decision and has its lines to itself, but not the whole function body."""
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


def split_paragraphs(block: StatementBlock, source: PythonSource) -> list[list[ast.stmt]]:
    """The block's own statements, split at blank lines."""
    paragraphs = [block.statements[:1]]
    for before, statement in pairwise(block.statements):
        between = range((before.end_lineno or 0) + 1, find_first_line(statement))
        if any(not source.line(number).strip() for number in between):
            paragraphs.append([])
        paragraphs[-1].append(statement)
    return paragraphs


def count_paragraph_breaks(block: StatementBlock, source: PythonSource) -> int:
    return len(split_paragraphs(block, source)) - 1


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


JumpNode = ast.Break | ast.Continue


@dataclass(frozen=True, slots=True)
class StatementTraits:
    returns: tuple[ast.Return, ...]
    jumps: tuple[JumpNode, ...]
    """Jumps that target a loop outside."""
    names: tuple[ast.Name, ...]
    waits: bool
    """Whether it needs an async function."""
    stuck: bool
    """Whether it declares or deletes names, or inspects the call stack: moved into a function, it would do something else."""
    yields: bool
    in_class: bool
    """Whether it uses `super()` or a name that is only valid inside its class."""


def combine_traits(statements: Sequence[ast.stmt]) -> StatementTraits:
    each = [_measure_traits(statement) for statement in statements]
    return StatementTraits(
        tuple(one for traits in each for one in traits.returns),
        tuple(one for traits in each for one in traits.jumps),
        tuple(name for traits in each for name in traits.names),
        any(traits.waits for traits in each),
        any(traits.stuck for traits in each),
        any(traits.yields for traits in each),
        any(traits.in_class for traits in each),
    )


@lru_cache(maxsize=1 << 12)
def _measure_traits(statement: ast.stmt) -> StatementTraits:
    nodes = list(walk_own_scope([statement]))
    rebinds = any(isinstance(node, ast.Nonlocal) for node in ast.walk(statement))
    return StatementTraits(
        tuple(node for node in nodes if isinstance(node, ast.Return)),
        tuple(_find_outward_jumps(statement)),
        tuple(sorted((node for node in nodes if isinstance(node, ast.Name)), key=lambda name: (name.lineno, name.col_offset))),
        any(map(_is_async_node, nodes)),
        any(map(_is_bound_to_function, nodes)) or rebinds,
        any(isinstance(node, ast.Yield | ast.YieldFrom) for node in nodes),
        any(_needs_class_scope(node) for node in ast.walk(statement)),
    )


def _find_outward_jumps(statement: ast.stmt) -> list[JumpNode]:
    jumps: list[JumpNode] = []
    pending: list[ast.AST] = [statement]
    while pending:
        node = pending.pop()
        if isinstance(node, JumpNode):
            jumps.append(node)
        elif isinstance(node, LoopNode):
            pending.extend(node.orelse)
        elif not isinstance(node, ScopeNode | ast.expr):
            pending.extend(ast.iter_child_nodes(node))
    return jumps


def _is_async_node(node: ast.AST) -> bool:
    if isinstance(node, ComprehensionNode):
        return any(part.is_async for part in node.generators)
    return isinstance(node, ast.Await | ast.AsyncFor | ast.AsyncWith)


def _is_bound_to_function(node: ast.AST) -> bool:
    deleted = isinstance(node, ast.Name) and isinstance(node.ctx, ast.Del)
    return deleted or reads_call_stack(node) or isinstance(node, ast.Global | ast.Nonlocal)


def _needs_class_scope(node: ast.AST) -> bool:
    if isinstance(node, ast.Name) and node.id in ("super", "__class__"):
        return True
    name = node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")
    return name.startswith("__") and not name.endswith("__")
