"""A change that saves nothing itself together with the extraction that it makes possible, as one suggestion."""

from collections.abc import Callable, Iterator

from afresh.insight.complexity import LIMIT
from afresh.insight.reshape.combined import difference, following
from afresh.insight.reshape.extracting import extractions
from afresh.insight.reshape.guards import guards
from afresh.insight.reshape.scene import Scene
from afresh.insight.reshape.splitting import split_loops
from afresh.insight.reshape.suggestion import Change, Suggestion, checked
from afresh.insight.source import Function, Source, parse

OPENINGS: tuple[Callable[[Scene], Iterator[Change]], ...] = (guards, split_loops)
TRIED = 6
CLEAN = 14.0
"""An extraction with a higher score is not worth a preparation."""


def openings(source: Source, function: Function, taken: frozenset[str]) -> Iterator[Suggestion]:
    """Only those that finish the function."""
    found = [change for opening in OPENINGS for change in opening(Scene(source, function, taken))]
    ready: list[Suggestion] = []
    for change in sorted(found, key=lambda change: change.score)[:TRIED]:
        state = following(source, function, change)
        best = next(extractions(*state, taken), None) if state else None
        if state and best is not None and _finishes(best) and (made := _together(source, function, change, state, best)):
            ready.append(made)
    yield from sorted(ready, key=lambda suggestion: suggestion.score)


def _finishes(suggestion: Suggestion) -> bool:
    return suggestion.after <= LIMIT and suggestion.score <= CLEAN


def _together(
    source: Source, function: Function, change: Change, state: tuple[Source, Function], best: Suggestion
) -> Suggestion | None:
    result = parse(source.path, best.applied(state[0].text))
    if result is None:
        return None
    known = {one.name for one in source.functions}
    new = tuple(one.name for one in result.functions if one.name not in known)
    head = f"{change.head} in {function.name} of {source.path}, then {best.head.rpartition(': complexity')[0]}"
    lines = (min(change.lines[0], best.lines[0]), max(change.lines[1], best.lines[1]))
    one = Change(change.kind, head, difference(source, result), lines, best.score + change.score, new)
    return checked(source, function, one)
