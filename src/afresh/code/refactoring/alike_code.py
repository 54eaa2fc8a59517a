"""Finds code of the same shape: who cuts out one of several alike pieces must cut out all of them."""

import ast
from collections.abc import Iterator
from functools import lru_cache

from afresh.code.complexity import count_decision_points, list_statement_bodies
from afresh.code.python_source import PythonSource
from afresh.code.refactoring.blocks import StatementBlock, StatementList, find_statement_lists
from afresh.code.refactoring.function_flow import FunctionFlow

MIN_BRANCH_LINES = 4
"""A shorter branch may stay where it is when an alike one is cut out."""
MIN_SHAPE_STATEMENTS = 3


def describe_code(statements: list[ast.stmt]) -> str:
    """Return a text that two pieces share only if they are the same code."""
    return "\n".join(ast.dump(statement) for statement in statements)


def find_alike_pieces(host: FunctionFlow, block: StatementBlock) -> frozenset[str]:
    """Return the other pieces of the function that must be cut out with this one: the large branches of the same chain that ask
    the same question, and runs of statements of the same shape.
    """
    found = [body for body in _alike_branches(host, block) if _is_large(body, block)]
    return frozenset(map(describe_code, [*found, *_runs_of_same_shape(host, block)]))


def count_alike_branches(host: FunctionFlow, block: StatementBlock) -> int:
    """Return how many branches ask the same question as the one that the block is."""
    return 1 + sum(1 for _ in _alike_branches(host, block))


def has_duplicate(source: PythonSource, block: StatementBlock) -> bool:
    """Whether the same code is in the file a second time."""
    text, size = describe_code(block.statements), len(block.statements)
    found = 0
    for body in _all_bodies(source.tree):
        found += sum(
            describe_code(body[at : at + size]) == text
            for at in range(len(body) - size + 1)
            if type(body[at]) is type(block.statements[0])
        )
        if found > 1:
            return True
    return False


def is_repeated_text(source: PythonSource, lines: tuple[int, int]) -> bool:
    """Whether several lines are in the file a second time, at any depth."""
    every = [line.strip() for line in source.lines]
    wanted = every[lines[0] - 1 : lines[1]]
    found = sum(every[at : at + len(wanted)] == wanted for at in range(len(every)) if every[at] == wanted[0])
    return len(wanted) > 1 and found > 1


@lru_cache(maxsize=8)
def _all_bodies(tree: ast.Module) -> tuple[list[ast.stmt], ...]:
    found, pending = [tree.body], list(tree.body)
    while pending:
        inner = [body for body in list_statement_bodies(pending.pop()) if body]
        found.extend(inner)
        pending.extend(statement for body in inner for statement in body)
    return tuple(found)


def _is_large(body: list[ast.stmt], block: StatementBlock) -> bool:
    lines = (body[-1].end_lineno or 0) - body[0].lineno + 1
    return lines >= MIN_BRANCH_LINES and (count_decision_points(body) > 0 or 2 * lines >= block.lines)


def _alike_branches(host: FunctionFlow, block: StatementBlock) -> Iterator[list[ast.stmt]]:
    parent = block.place.parent
    if not block.whole or block.place.statements is not getattr(parent, "body", None):
        return
    for chain in _chains(host):
        if any(body is block.place.statements for _, body in chain):
            asked = next(question for question, body in chain if body is block.place.statements)
            yield from (body for question, body in chain if body is not block.place.statements and question == asked)


def _chains(host: FunctionFlow) -> Iterator[list[tuple[str, list[ast.stmt]]]]:
    """Yield the branches of each `if` chain, of neighbouring `if` statements, and of each `match`, with what they ask."""
    for place in find_statement_lists(host.node):
        chained = [
            branch for one in place.statements if isinstance(one, ast.If) and not _is_elif(place) for branch in _branches(one)
        ]
        if chained:
            yield chained
        for one in place.statements:
            if isinstance(one, ast.Match):
                yield [(ast.dump(one.subject), case.body) for case in one.cases]


def _is_elif(place: StatementList) -> bool:
    parent = place.parent
    return (
        isinstance(parent, ast.If)
        and place.statements is parent.orelse
        and len(parent.orelse) == 1
        and isinstance(parent.orelse[0], ast.If)
    )


def _branches(node: ast.If) -> Iterator[tuple[str, list[ast.stmt]]]:
    yield _question(node.test), node.body
    if len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If):
        yield from _branches(node.orelse[0])


def _question(test: ast.expr) -> str:
    """Return what a test asks, without the value that it asks for."""
    match test:
        case ast.BoolOp(values=[first, *_]):
            return _question(first)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return _question(operand)
        case ast.Compare(left=ast.Constant(), ops=[ast.In() | ast.NotIn()], comparators=[right]):
            return f"in {ast.dump(right)}"
        case ast.Compare(left=left):
            return f"is {ast.dump(left)}"
        case ast.Call(func=func, args=[first, *_]):
            return f"call {ast.dump(func)} {ast.dump(first)}"
        case _:
            return ast.dump(test)


def _runs_of_same_shape(host: FunctionFlow, block: StatementBlock) -> Iterator[list[ast.stmt]]:
    """Yield other runs of statements, with decisions, whose statements are nested in the same way."""
    size, shape = len(block.statements), tuple(map(_shape, block.statements))
    if sum(map(_count_statements, block.statements)) < MIN_SHAPE_STATEMENTS:
        return
    for place in find_statement_lists(host.node):
        for at in range(len(place.statements) - size + 1):
            run = place.statements[at : at + size]
            apart = (run[-1].end_lineno or 0) < block.first_line or run[0].lineno > block.last_line
            if apart and tuple(map(_shape, run)) == shape:
                yield run


@lru_cache(maxsize=1 << 12)
def _shape(statement: ast.stmt) -> str:
    bodies = "|".join("".join(map(_shape, body)) for body in list_statement_bodies(statement))
    return f"{type(statement).__name__}({bodies})"


def _count_statements(statement: ast.stmt) -> int:
    return sum(isinstance(node, ast.stmt) for node in ast.walk(statement))
