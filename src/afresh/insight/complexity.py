"""Cyclomatic complexity as ruff's C901 counts it, on `ast`, because starting a program for each file is too slow for a step."""

import ast
from collections.abc import Iterable, Sequence

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
LoopNode = ast.For | ast.AsyncFor | ast.While
TryNode = ast.Try | ast.TryStar
MAX_COMPLEXITY = 10


def measure_complexity(function: FunctionNode) -> int:
    return 1 + count_decision_points(function.body)


def count_decision_points(statements: Iterable[ast.stmt]) -> int:
    """Decisions in the statements, those of nested functions included."""
    return sum(
        _own_decision_points(statement) + sum(map(count_decision_points, list_statement_bodies(statement)))
        for statement in statements
    )


def list_statement_bodies(statement: ast.stmt) -> Sequence[list[ast.stmt]]:
    """The statement lists that a compound statement holds, in reading order."""
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


def _own_decision_points(statement: ast.stmt) -> int:
    match statement:
        case ast.If() | ast.For() | ast.AsyncFor() | ast.While() | ast.FunctionDef() | ast.AsyncFunctionDef():
            return 1
        case ast.Try() | ast.TryStar():
            return len(statement.handlers) + bool(statement.orelse)
        case ast.Match():
            return len(statement.cases) - is_irrefutable(statement.cases[-1])
        case _:
            return 0


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
