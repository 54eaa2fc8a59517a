"""All kinds of change together, the best first whatever its kind."""

import heapq
from collections.abc import Iterator

from afresh.insight.complexity import MAX_COMPLEXITY
from afresh.insight.reshape.combined import suggest_rewrites
from afresh.insight.reshape.extracting import suggest_extractions
from afresh.insight.reshape.openings import suggest_prepared_extractions
from afresh.insight.reshape.suggestion import Suggester, Suggestion
from afresh.insight.source import PythonFunction, PythonSource

SUGGESTERS: tuple[Suggester, ...] = (suggest_extractions, suggest_rewrites)
"""A new kind is a file with a function of this interface and one entry here."""
LAST_SUGGESTERS: tuple[Suggester, ...] = (suggest_prepared_extractions,)
"""Dear to work out, so only asked when the others have nothing more."""
MAX_OVERLAP_SHARE = 0.75


def suggest_refactorings(source: PythonSource, function: PythonFunction, taken: frozenset[str]) -> Iterator[Suggestion]:
    """Best first, none much like one before it. `taken` are words of the project that a new method may not be named by."""
    given: list[Suggestion] = []
    for suggestion in iterate_all_suggestions(source, function, taken):
        alike = any(suggestion.overlap(other) > MAX_OVERLAP_SHARE for other in given if other.kind == suggestion.kind)
        if not alike and _is_worth_offering(suggestion):
            given.append(suggestion)
            yield suggestion


def _is_worth_offering(suggestion: Suggestion) -> bool:
    """Whether it finishes the function, or takes so much of what is over that it is not only another way to write it."""
    over, gain = suggestion.before - MAX_COMPLEXITY, suggestion.before - suggestion.after
    return gain >= min(over, max(2, 0.12 * over))


def iterate_all_suggestions(source: PythonSource, function: PythonFunction, taken: frozenset[str]) -> Iterator[Suggestion]:
    for kinds in (SUGGESTERS, LAST_SUGGESTERS):
        each = [kind(source, function, taken) for kind in kinds]
        yield from heapq.merge(*each, key=lambda suggestion: suggestion.score)
