"""All kinds of change together, the best first whatever its kind."""

import heapq
from collections.abc import Iterator

from afresh.insight.complexity import LIMIT
from afresh.insight.reshape.combined import rewritings
from afresh.insight.reshape.extracting import extractions
from afresh.insight.reshape.openings import openings
from afresh.insight.reshape.suggestion import Suggesting, Suggestion
from afresh.insight.source import Function, Source

KINDS: tuple[Suggesting, ...] = (extractions, rewritings)
"""A new kind is a file with a function of this interface and one entry here."""
LAST: tuple[Suggesting, ...] = (openings,)
"""Dear to work out, so only asked when the others have nothing more."""
ALIKE = 0.75


def suggestions(source: Source, function: Function, taken: frozenset[str]) -> Iterator[Suggestion]:
    """Best first, none much like one before it. `taken` are words of the project that a new method may not be named by."""
    given: list[Suggestion] = []
    for suggestion in all_suggestions(source, function, taken):
        alike = any(suggestion.overlap(other) > ALIKE for other in given if other.kind == suggestion.kind)
        if not alike and _worth(suggestion):
            given.append(suggestion)
            yield suggestion


def _worth(suggestion: Suggestion) -> bool:
    """Whether it finishes the function, or takes so much of what is over that it is not only another way to write it."""
    over, gain = suggestion.before - LIMIT, suggestion.before - suggestion.after
    return gain >= min(over, max(2, 0.12 * over))


def all_suggestions(source: Source, function: Function, taken: frozenset[str]) -> Iterator[Suggestion]:
    for kinds in (KINDS, LAST):
        each = [kind(source, function, taken) for kind in kinds]
        yield from heapq.merge(*each, key=lambda suggestion: suggestion.score)
