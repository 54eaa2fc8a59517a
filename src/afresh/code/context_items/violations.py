"""Explains what makes a function complex: its decisions and its deepest nesting."""

import ast
from collections import Counter
from collections.abc import Sequence
from pathlib import PurePosixPath

from afresh.code.complexity import list_statement_bodies
from afresh.code.context_items.repo_map import list_mentioned_words
from afresh.code.names_in_text import find_named_paths
from afresh.code.python_source import PythonFunction, PythonSource, PythonTree
from afresh.code.refactoring.suggest_extractions import Suggestion
from afresh.core.state import State

DECISION_NAMES = {
    ast.If: "if", ast.For: "for", ast.AsyncFor: "for", ast.While: "while", ast.FunctionDef: "inner function",
    ast.AsyncFunctionDef: "inner function",
}  # fmt: skip
MIN_REPORTED_NESTING = 3
"""Nesting is reported from this depth on."""


def explain_complexity(function: PythonFunction) -> str:
    """Return a summary such as `7 if, 2 for, 1 except; 4 deep at line 120`."""
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
    """Return the greatest depth and the first line at it. An `elif` is no deeper than its `if`."""
    best = (depth, statements[0].lineno) if statements else (depth, 0)
    for statement in statements:
        for body in list_statement_bodies(statement):
            chained = (
                isinstance(statement, ast.If) and body is statement.orelse and len(body) == 1 and isinstance(body[0], ast.If)
            )
            best = max(best, find_deepest_nesting(body, depth if chained else depth + 1), key=lambda found: found[0])
    return best


MAX_LISTED_VIOLATIONS = 20


def find_complexity_violations(tree: PythonTree, state: State) -> list[tuple[PythonSource, PythonFunction]]:
    """Return the functions in scope that are over the limit, those that the task mentions first."""
    places, said = find_named_paths(state.task.goal, tree.paths), list_mentioned_words(state)
    places = [place for place in places if place.endswith(".py") or place not in tree.paths]
    within = [one for one in tree.code if not places or any(f"{one.path}/".startswith(f"{place}/") for place in places)]
    found = [(source, one) for source in within for one in source.violations]
    return sorted(found, key=lambda pair: (rank_violation_path(pair[0].path, state, said), pair[0].path, pair[1].node.lineno))


def render_violations(found: list[tuple[PythonSource, PythonFunction]], offers: list[Suggestion]) -> str:
    if not found:
        return "none over 10"
    offered = {(offer.path, offer.function) for offer in offers}
    lines = [
        f"{one.name} {source.path}:{one.node.lineno} complexity {one.complexity}"
        f" ({'suggestion offered' if (source.path, one.name) in offered else 'no suggestion yet'}): {explain_complexity(one)}"
        for source, one in found[:MAX_LISTED_VIOLATIONS]
    ]
    return "\n".join(
        [*lines, *([f"… and {len(found) - MAX_LISTED_VIOLATIONS} more"] if len(found) > MAX_LISTED_VIOLATIONS else [])]
    )


def rank_violation_path(path: str, state: State, words: frozenset[str]) -> int:
    """Return the sort rank of a violation's file."""
    pure = PurePosixPath(path)
    if path in words or path in state.workspace.changed:
        return 0
    if (
        any(region.path == path for region in state.memory.regions)
        or pure.name in words
        or (pure.stem in words and len(pure.stem) > 3)
    ):
        return 1
    return 2
