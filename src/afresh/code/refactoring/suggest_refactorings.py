"""Why nothing is offered for a function: what the best piece of it lacks."""

import heapq
from collections import Counter
from collections.abc import Iterator

from afresh.code.complexity import MAX_COMPLEXITY
from afresh.code.python_source import PythonFunction, PythonSource
from afresh.code.refactoring.blocks import find_blocks
from afresh.code.refactoring.combine_rewrites import suggest_prepared_extractions, suggest_rewrites
from afresh.code.refactoring.extract_function import (
    MAX_EXTRACTION_SCORE,
    MAX_HELPER_PARAMETERS,
    MAX_HELPER_RESULTS,
    is_too_small,
    score_extraction,
    suggest_extractions,
)
from afresh.code.refactoring.function_flow import FunctionFlow
from afresh.code.refactoring.name_new_function import propose_names
from afresh.code.refactoring.plan_extraction import Extraction, explain_obstacle, plan_extraction
from afresh.code.refactoring.render_extraction import NewFunctionPlacement, place_helper
from afresh.code.refactoring.suggestion import Suggester, Suggestion


def explain_missing_suggestion(source: PythonSource, function: PythonFunction) -> str:
    """In words, the most frequent first hindrance of the pieces that could go."""
    host = FunctionFlow(function)
    found: Counter[str] = Counter()
    for block in find_blocks(function, source):
        extracted = plan_extraction(host, block)
        found[explain_obstacle(host, block) if extracted is None else _explain_weakness(extracted, source)] += block.cost
    if not found:
        return "one decision after another on one level, and none of them a piece of its own"
    return found.most_common(1)[0][0]


def _explain_weakness(extracted: Extraction, source: PythonSource) -> str:
    where = place_helper(extracted, source)
    if where is None:
        return "pieces use names of their class"
    return _explain_width(extracted, where) or _explain_shape(extracted, where, source)


def _explain_width(extracted: Extraction, where: NewFunctionPlacement) -> str:
    parameters = len([name for name in extracted.parameters if name != where.bound])
    if parameters > MAX_HELPER_PARAMETERS:
        return f"pieces need more than {MAX_HELPER_PARAMETERS} parameters"
    return f"pieces give back more than {MAX_HELPER_RESULTS} results" if len(extracted.results) > MAX_HELPER_RESULTS else ""


def _explain_shape(extracted: Extraction, where: NewFunctionPlacement, source: PythonSource) -> str:
    if is_too_small(extracted):
        return "pieces are too small beside what is left"
    if next(propose_names(extracted, source), None) is None:
        return "the code has no word for what a piece does"
    torn = score_extraction(extracted, where, source) > MAX_EXTRACTION_SCORE / 2
    return "pieces are not one thing, or wide" if torn else "pieces have no good name"


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
