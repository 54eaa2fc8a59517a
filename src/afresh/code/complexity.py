"""Cyclomatic complexity as ruff's C901 counts it, computed on `ast` because running ruff for each file is too slow for a step."""

import ast
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
LoopNode = ast.For | ast.AsyncFor | ast.While
TryNode = ast.Try | ast.TryStar
MAX_COMPLEXITY = 10
DECISION_KEYWORDS: dict[type[ast.stmt], str] = {
    ast.If: "if",
    ast.For: "for",
    ast.AsyncFor: "for",
    ast.While: "while",
    ast.FunctionDef: "def",
    ast.AsyncFunctionDef: "def",
}


def measure_complexity(function: FunctionNode) -> int:
    return 1 + count_decision_points(function.body)


def count_decision_points(statements: Iterable[ast.stmt]) -> int:
    """Return the number of decisions in the statements, including those of nested functions."""
    return sum(
        len(_own_decisions(statement)) + sum(map(count_decision_points, list_statement_bodies(statement)))
        for statement in statements
    )


def list_statement_bodies(statement: ast.stmt) -> Sequence[list[ast.stmt]]:
    """Return the statement lists that a compound statement contains, in source order."""
    match statement:
        case ast.If() | ast.For() | ast.AsyncFor() | ast.While():
            return statement.body, statement.orelse
        case ast.Try() | ast.TryStar():
            return statement.body, *(handler.body for handler in statement.handlers), statement.orelse, statement.finalbody
        case ast.Match():
            return [case.body for case in statement.cases]
        case ast.With() | ast.AsyncWith() | ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return (statement.body,)
        case _:
            return ()


def _own_decisions(statement: ast.stmt) -> Sequence[str]:
    """Return the keyword of each decision that the statement itself makes."""
    match statement:
        case ast.If() | ast.For() | ast.AsyncFor() | ast.While() | ast.FunctionDef() | ast.AsyncFunctionDef():
            return (DECISION_KEYWORDS[type(statement)],)
        case ast.Try() | ast.TryStar():
            return ["except"] * len(statement.handlers) + ["else"] * bool(statement.orelse)
        case ast.Match():
            return ["case"] * (len(statement.cases) - is_irrefutable(statement.cases[-1]))
        case _:
            return ()


def is_irrefutable(case: ast.match_case) -> bool:
    return case.guard is None and _matches_all(case.pattern)


def _matches_all(pattern: ast.pattern) -> bool:
    match pattern:
        case ast.MatchAs(pattern=None):
            return True
        case ast.MatchAs(pattern=inner) if inner is not None:
            return _matches_all(inner)
        case ast.MatchOr(patterns=patterns):
            return any(map(_matches_all, patterns))
        case _:
            return False


def count_decisions_by_keyword(function: FunctionNode) -> Counter[str]:
    """Return the number of decisions by keyword; their sum is the complexity minus one."""
    return Counter(_decision_keywords(function.body))


def measure_nesting_depth(statements: Sequence[ast.stmt]) -> int:
    """Return how many blocks are nested in each other; an `elif` is not nested in its `if`."""
    return max((_nesting_below(statement) for statement in statements), default=0)


def _nesting_below(statement: ast.stmt) -> int:
    if isinstance(statement, ast.If):
        chained = len(statement.orelse) == 1 and isinstance(statement.orelse[0], ast.If)
        return max(1 + measure_nesting_depth(statement.body), measure_nesting_depth(statement.orelse) + (not chained))
    inner = [body for body in list_statement_bodies(statement) if body]
    return 1 + max(map(measure_nesting_depth, inner)) if inner and not isinstance(statement, FunctionNode | ast.ClassDef) else 0


def _decision_keywords(statements: Sequence[ast.stmt]) -> Iterator[str]:
    for statement in statements:
        yield from _own_decisions(statement)
        for body in list_statement_bodies(statement):
            yield from _decision_keywords(body)
