"""Suggests changes that bring a function below the complexity limit: rewrites, extractions and both combined."""

import difflib
import heapq
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from afresh.code.complexity import MAX_COMPLEXITY
from afresh.code.python_source import PythonFunction, PythonSource, parse_python
from afresh.code.refactoring.blocks import find_blocks
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
from afresh.code.refactoring.rewrite_target import RewriteTarget
from afresh.code.refactoring.rewrites.conditional_expressions import use_conditional_expressions
from afresh.code.refactoring.rewrites.conditions import make_guard_clauses, merge_conditions
from afresh.code.refactoring.rewrites.dict_lookups import simplify_lookups
from afresh.code.refactoring.rewrites.lookup_tables import make_lookup_tables
from afresh.code.refactoring.rewrites.loops_to_expressions import replace_loops
from afresh.code.refactoring.rewrites.move_nested_functions import move_nested_functions
from afresh.code.refactoring.rewrites.split_loops import split_loops
from afresh.code.refactoring.suggestion import (
    LineSplice,
    ProposedRewrite,
    Suggester,
    Suggestion,
    apply_splices,
    check_rewrite,
    find_counterpart,
    score_remaining_complexity,
)

FindRewrites = Callable[[RewriteTarget], Iterator[ProposedRewrite]]
REWRITES: tuple[FindRewrites, ...] = (
    merge_conditions,
    use_conditional_expressions,
    replace_loops,
    simplify_lookups,
    move_nested_functions,
    make_lookup_tables,
)
MAX_COMBINED_REWRITES = 4
BEAM_WIDTH = 3
MAX_REWRITES_TRIED = 12
KINDS_WORTH_DOING_ALONE = {"move function", "table"}


@dataclass(frozen=True, slots=True)
class RewriteState:
    """The file after some rewrites."""

    source: PythonSource
    function: PythonFunction
    changes: tuple[ProposedRewrite, ...] = ()

    @property
    def price(self) -> float:
        """The effort for a reviewer."""
        return sum(change.score for change in self.changes) + 0.5 * max(0, len(self.changes) - 1)

    @property
    def rank(self) -> tuple[float, float]:
        return max(0, self.function.complexity - MAX_COMPLEXITY) * 2.0 + self.price, self.price


def suggest_rewrites(source: PythonSource, function: PythonFunction, taken: frozenset[str]) -> Iterator[Suggestion]:
    """Yield sequences of rewrites that reach the limit, the cheapest first; if there are none, the best that is worth doing
    anyway.
    """
    done: list[RewriteState] = []
    beam = [RewriteState(source, function)]
    seen = {source.text}
    furthest = beam[0]
    for _ in range(MAX_COMBINED_REWRITES):
        following = [after for state in beam for after in _apply_each_rewrite(state, taken, seen)]
        done += [state for state in following if state.function.complexity <= MAX_COMPLEXITY]
        beam = sorted((state for state in following if state.function.complexity > MAX_COMPLEXITY), key=lambda state: state.rank)[
            :BEAM_WIDTH
        ]
        furthest = min([furthest, *filter(_is_worth_doing, beam)], key=lambda state: (state.function.complexity, state.price))
        if done or not beam:
            break
    finished = sorted(done, key=lambda state: state.price)
    for state in finished or [furthest]:
        if state.changes and (suggestion := check_rewrite(source, function, _join_rewrites(source, state))):
            yield suggestion


def _is_worth_doing(state: RewriteState) -> bool:
    """Whether it consists of substantial rewrites only, so that the function becomes clearly simpler."""
    return all(change.kind in KINDS_WORTH_DOING_ALONE for change in state.changes)


def _apply_each_rewrite(state: RewriteState, taken: frozenset[str], seen: set[str]) -> Iterator[RewriteState]:
    found = [change for scene in _iterate_targets(state, taken) for rewriting in REWRITES for change in rewriting(scene)]
    for change in sorted(found, key=lambda change: change.score)[:MAX_REWRITES_TRIED]:
        text = apply_splices(state.source, list(change.splices))
        if text not in seen and (after := apply_rewrite(state.source, state.function, change)) is not None:
            seen.add(text)
            if after[1].complexity < state.function.complexity:
                yield RewriteState(*after, (*state.changes, change))


def apply_rewrite(
    source: PythonSource, function: PythonFunction, change: ProposedRewrite
) -> tuple[PythonSource, PythonFunction] | None:
    """Return the file and the function in it after the change."""
    result = parse_python(source.path, apply_splices(source, list(change.splices)))
    again = find_counterpart(source, function, result) if result else None
    return (result, again) if result and again else None


def _iterate_targets(state: RewriteState, taken: frozenset[str]) -> Iterator[RewriteTarget]:
    """Yield the function and its nested functions, whose decisions count for it, too."""
    for one in state.source.functions:
        if one is state.function or state.function.node in one.around:
            yield RewriteTarget(state.source, one, taken)


def _join_rewrites(source: PythonSource, state: RewriteState) -> ProposedRewrite:
    heads = "; ".join(dict.fromkeys(change.head for change in state.changes))
    kinds = list(dict.fromkeys(change.kind for change in state.changes))
    splices = splices_from_difference(source, state.source)
    first = min(change.lines[0] for change in state.changes[:1])
    last = max(change.lines[1] for change in state.changes[:1])
    new = tuple(name for change in state.changes for name in change.new)
    score = state.price + score_remaining_complexity(state.function.complexity)
    kind = kinds[0] if len(kinds) == 1 else "combined"
    head = f"in {state.function.name} of {source.path}, {heads}"
    return ProposedRewrite(kind, head, splices, (first, last), score, new)


def splices_from_difference(source: PythonSource, result: PythonSource) -> tuple[LineSplice, ...]:
    """Return the difference between two texts as splices of the first."""
    old, new = source.lines, result.lines
    head = next((n for n, (one, other) in enumerate(zip(old, new, strict=False)) if one != other), 0)
    short = min(len(old), len(new)) - head
    tail = next((n for n in range(short) if old[-1 - n] != new[-1 - n]), short)
    matcher = difflib.SequenceMatcher(None, old[head : len(old) - tail], new[head : len(new) - tail], autojunk=False)
    found = [code[1:] for code in matcher.get_opcodes() if code[0] != "equal"]
    return tuple(_make_splice(old, new, (i + head, j + head, k + head, m + head)) for i, j, k, m in found)


def _make_splice(old: Sequence[str], new: Sequence[str], spans: tuple[int, int, int, int]) -> LineSplice:
    """Return a splice. It must contain a line, so a pure deletion includes the line above."""
    start, stop, first, last = spans
    if first == last:
        return LineSplice(start, stop + 1, (old[start - 1].rstrip("\r\n"),))
    return LineSplice(start + 1, stop + 1, tuple(line.rstrip("\r\n") for line in new[first:last]))


PREPARING_REWRITES: tuple[Callable[[RewriteTarget], Iterator[ProposedRewrite]], ...] = (make_guard_clauses, split_loops)
MAX_PREPARATIONS_TRIED = 6
MAX_PREPARED_SCORE = 14.0
"""An extraction with a higher score is not worth preparing."""


def suggest_prepared_extractions(source: PythonSource, function: PythonFunction, taken: frozenset[str]) -> Iterator[Suggestion]:
    """Yield extractions after a preparing rewrite, only if they bring the function below the limit."""
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


def explain_missing_suggestion(source: PythonSource, function: PythonFunction) -> str:
    """Return the most frequent obstacle to an extraction, in words."""
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
"""To add a kind, write a file with a function of this signature and add it here."""
LAST_SUGGESTERS: tuple[Suggester, ...] = (suggest_prepared_extractions,)
"""Expensive, so only used when the others have nothing more."""
MAX_OVERLAP_SHARE = 0.75


def suggest_refactorings(source: PythonSource, function: PythonFunction, taken: frozenset[str]) -> Iterator[Suggestion]:
    """Yield suggestions, the best first, without ones similar to an earlier one. `taken` are names of the project that a new
    method may not have.
    """
    given: list[Suggestion] = []
    for suggestion in iterate_all_suggestions(source, function, taken):
        alike = any(suggestion.overlap(other) > MAX_OVERLAP_SHARE for other in given if other.kind == suggestion.kind)
        if not alike and _is_worth_offering(suggestion):
            given.append(suggestion)
            yield suggestion


def _is_worth_offering(suggestion: Suggestion) -> bool:
    """Whether it brings the function below the limit, or removes a substantial part of the excess."""
    over, gain = suggestion.before - MAX_COMPLEXITY, suggestion.before - suggestion.after
    return gain >= min(over, max(2, 0.12 * over))


def iterate_all_suggestions(source: PythonSource, function: PythonFunction, taken: frozenset[str]) -> Iterator[Suggestion]:
    for kinds in (SUGGESTERS, LAST_SUGGESTERS):
        each = [kind(source, function, taken) for kind in kinds]
        yield from heapq.merge(*each, key=lambda suggestion: suggestion.score)
