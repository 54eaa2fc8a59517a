"""What makes a function complex, in words: what it decides by, and where it is nested deepest."""

import ast
from collections import Counter
from collections.abc import Sequence

from afresh.insight.complexity import list_statement_bodies
from afresh.insight.source import PythonFunction

DECISION_NAMES = {
    ast.If: "if", ast.For: "for", ast.AsyncFor: "for", ast.While: "while", ast.FunctionDef: "inner function",
    ast.AsyncFunctionDef: "inner function",
}  # fmt: skip
MIN_REPORTED_NESTING = 3
"""Levels of nesting from which they are told."""


def explain_complexity(function: PythonFunction) -> str:
    """`7 if, 2 for, 1 except; 4 deep at line 120`."""
    counts, (depth, line) = count_decisions_by_name(function.node.body), find_deepest_nesting(function.node.body, 0)
    told = ", ".join(f"{count} {name}" for name, count in counts.most_common())
    return told + (f"; {depth} deep at line {line}" if depth >= MIN_REPORTED_NESTING else "")


def count_decisions_by_name(statements: Sequence[ast.stmt]) -> Counter[str]:
    found: Counter[str] = Counter()
    for statement in statements:
        if type(statement) in DECISION_NAMES:
            found[DECISION_NAMES[type(statement)]] += 1
        elif isinstance(statement, ast.Try | ast.TryStar):
            found += Counter({"except": len(statement.handlers), "else of try": int(bool(statement.orelse))})
        elif isinstance(statement, ast.Match):
            found["case"] += len(statement.cases)
        for body in list_statement_bodies(statement):
            found += count_decisions_by_name(body)
    return found


def find_deepest_nesting(statements: Sequence[ast.stmt], depth: int) -> tuple[int, int]:
    """How deep, and the first line that is. An `elif` is no deeper than its `if`."""
    best = (depth, statements[0].lineno) if statements else (depth, 0)
    for statement in statements:
        for body in list_statement_bodies(statement):
            chained = (
                isinstance(statement, ast.If) and body is statement.orelse and len(body) == 1 and isinstance(body[0], ast.If)
            )
            best = max(best, find_deepest_nesting(body, depth if chained else depth + 1), key=lambda found: found[0])
    return best
