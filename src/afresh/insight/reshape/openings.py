"""A change that saves nothing itself together with the extraction that it makes possible, as one suggestion."""

from collections.abc import Callable, Iterator

from afresh.insight.complexity import MAX_COMPLEXITY
from afresh.insight.reshape.combined import splices_from_difference, apply_rewrite
from afresh.insight.reshape.extracting import suggest_extractions
from afresh.insight.reshape.guards import make_guard_clauses
from afresh.insight.reshape.scene import RewriteTarget
from afresh.insight.reshape.splitting import split_loops
from afresh.insight.reshape.suggestion import ProposedRewrite, Suggestion, check_rewrite
from afresh.insight.source import PythonFunction, PythonSource, parse_python

PREPARING_REWRITES: tuple[Callable[[RewriteTarget], Iterator[ProposedRewrite]], ...] = (make_guard_clauses, split_loops)
MAX_PREPARATIONS_TRIED = 6
MAX_PREPARED_SCORE = 14.0
"""An extraction with a higher score is not worth a preparation."""


def suggest_prepared_extractions(source: PythonSource, function: PythonFunction, taken: frozenset[str]) -> Iterator[Suggestion]:
    """Only those that finish the function."""
    found = [change for opening in PREPARING_REWRITES for change in opening(RewriteTarget(source, function, taken))]
    ready: list[Suggestion] = []
    for change in sorted(found, key=lambda change: change.score)[:MAX_PREPARATIONS_TRIED]:
        state = apply_rewrite(source, function, change)
        best = next(suggest_extractions(*state, taken), None) if state else None
        if (
            state
            and best is not None
            and _reaches_limit(best)
            and (made := _join_with_extraction(source, function, change, state, best))
        ):
            ready.append(made)
    yield from sorted(ready, key=lambda suggestion: suggestion.score)


def _reaches_limit(suggestion: Suggestion) -> bool:
    return suggestion.after <= MAX_COMPLEXITY and suggestion.score <= MAX_PREPARED_SCORE


def _join_with_extraction(
    source: PythonSource,
    function: PythonFunction,
    change: ProposedRewrite,
    state: tuple[PythonSource, PythonFunction],
    best: Suggestion,
) -> Suggestion | None:
    result = parse_python(source.path, best.applied(state[0].text))
    if result is None:
        return None
    known = {one.name for one in source.functions}
    new = tuple(one.name for one in result.functions if one.name not in known)
    head = f"{change.head} in {function.name} of {source.path}, then {best.head.rpartition(': complexity')[0]}"
    lines = (min(change.lines[0], best.lines[0]), max(change.lines[1], best.lines[1]))
    one = ProposedRewrite(change.kind, head, splices_from_difference(source, result), lines, best.score + change.score, new)
    return check_rewrite(source, function, one)
