"""What a function's complexity is made of, in words."""

import ast
from collections import Counter
from collections.abc import Iterator, Sequence

from afresh.insight.complexity import FunctionNode, list_statement_bodies, is_irrefutable


def count_decisions_by_keyword(function: FunctionNode) -> Counter[str]:
    """Decisions by their keyword: together one less than the complexity."""
    return Counter(_decision_keywords(function.body))


def measure_nesting_depth(statements: Sequence[ast.stmt]) -> int:
    """How many blocks stand inside one another; an `elif` is not inside its `if`."""
    return max((_nesting_below(statement) for statement in statements), default=0)


def _nesting_below(statement: ast.stmt) -> int:
    if isinstance(statement, ast.If):
        chained = len(statement.orelse) == 1 and isinstance(statement.orelse[0], ast.If)
        return max(1 + measure_nesting_depth(statement.body), measure_nesting_depth(statement.orelse) + (not chained))
    inner = [body for body in list_statement_bodies(statement) if body]
    return 1 + max(map(measure_nesting_depth, inner)) if inner and not isinstance(statement, FunctionNode | ast.ClassDef) else 0


def _decision_keywords(statements: Sequence[ast.stmt]) -> Iterator[str]:
    for statement in statements:
        yield from _own_decision_keywords(statement)
        for body in list_statement_bodies(statement):
            yield from _decision_keywords(body)


def _own_decision_keywords(statement: ast.stmt) -> Iterator[str]:
    match statement:
        case ast.If():
            yield "if"
        case ast.For() | ast.AsyncFor():
            yield "for"
        case ast.While():
            yield "while"
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            yield "def"
        case ast.Try() | ast.TryStar():
            yield from ["except"] * len(statement.handlers) + ["else"] * bool(statement.orelse)
        case ast.Match():
            yield from ["case"] * (len(statement.cases) - is_irrefutable(statement.cases[-1]))
        case _:
            return
