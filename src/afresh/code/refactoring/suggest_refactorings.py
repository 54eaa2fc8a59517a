"""Suggests changes that bring a function below the complexity limit: rewrites, extractions and both combined."""

import difflib
import heapq
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from afresh.code.complexity import MAX_COMPLEXITY
from afresh.code.complexity_settings import explain_exempt_function
from afresh.code.python_source import PythonFunction, PythonSource, parse_python
from afresh.code.refactoring.alike_code import describe_code, find_alike_pieces, is_repeated_text
from afresh.code.refactoring.blocks import StatementBlock
from afresh.code.refactoring.call_stack import calls_any_of
from afresh.code.refactoring.copied_code import explain_copied_code
from afresh.code.refactoring.extract_function import (
    NO_NAME,
    Obstacle,
    RankedExtraction,
    judge_blocks,
    make_rewrite,
    suggest_extractions,
)
from afresh.code.refactoring.project_facts import NO_PROJECT, ProjectFacts
from afresh.code.refactoring.rewrite_target import RewriteTarget
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
    replace_loops,
    simplify_lookups,
    move_nested_functions,
    make_lookup_tables,
)
MAX_COMBINED_CHANGES = 6
BEAM_WIDTH = 3
MAX_CHANGES_TRIED = 12
MAX_ALTERNATIVES = 4
KINDS_BEFORE_CUTS = ("extract", "move function", "table")


@dataclass(frozen=True, slots=True)
class PlanState:
    """The file after some changes to one function."""

    source: PythonSource
    function: PythonFunction
    changes: tuple[ProposedRewrite, ...] = ()
    owed: frozenset[str] = frozenset()
    """Pieces that must be cut out too, because they are like one that was."""

    @property
    def price(self) -> float:
        """The effort for a reviewer."""
        return sum(change.score for change in self.changes) + 0.5 * max(0, len(self.changes) - 1)

    @property
    def rank(self) -> tuple[float, float]:
        return max(0, self.function.complexity - MAX_COMPLEXITY) * 2.0 + self.price, self.price

    @property
    def is_complete(self) -> bool:
        """Whether the function and all that was made from it are within the limit."""
        new = {name for change in self.changes for name in change.new}
        made = [one.complexity for one in self.source.functions if one.name in new]
        return not self.owed and max([self.function.complexity, *made]) <= MAX_COMPLEXITY


def suggest_plans(source: PythonSource, function: PythonFunction, project: ProjectFacts) -> Iterator[Suggestion]:
    """Yield sets of changes that bring the function within the limit together, the cheapest first. A function that can't be
    brought there gets none.
    """
    done: list[PlanState] = []
    beam = [PlanState(source, function)]
    seen = {source.text}
    for _ in range(MAX_COMBINED_CHANGES):
        following = [after for state in beam for after in _apply_each_change(state, project, seen)]
        done += [state for state in following if state.is_complete]
        open_states = [state for state in following if not state.is_complete]
        beam = sorted(open_states, key=lambda state: state.rank)[:BEAM_WIDTH]
        if done or not beam:
            break
    for state in sorted(done, key=lambda state: state.price)[:MAX_ALTERNATIVES]:
        if suggestion := check_rewrite(source, function, _join_changes(source, state)):
            yield suggestion


def _apply_each_change(state: PlanState, project: ProjectFacts, seen: set[str]) -> Iterator[PlanState]:
    found = [*_find_cuts(state, project), *([] if state.owed else _find_rewrites(state, project))]
    for change, owed in sorted(found, key=lambda pair: pair[0].score)[:MAX_CHANGES_TRIED]:
        text = apply_splices(state.source, list(change.splices))
        if text not in seen and (after := apply_rewrite(state.source, state.function, change)) is not None:
            seen.add(text)
            if after[1].complexity < state.function.complexity:
                yield PlanState(*after, (*state.changes, change), owed)


def _find_rewrites(state: PlanState, project: ProjectFacts) -> Iterator[tuple[ProposedRewrite, frozenset[str]]]:
    for scene in _iterate_targets(state, project):
        for rewriting in (one for one in REWRITES if project.new_names or one is not make_lookup_tables):
            changes = (change for change in rewriting(scene) if not is_repeated_text(state.source, change.lines))
            yield from ((change, state.owed) for change in changes)


def _find_cuts(state: PlanState, project: ProjectFacts) -> Iterator[tuple[ProposedRewrite, frozenset[str]]]:
    """Yield extractions, each with the pieces that are owed afterwards. While pieces are owed, only these are cut out. Small
    rewrites come last: what they have changed no longer looks like its alike pieces.
    """
    if not project.new_names or any(change.kind not in KINDS_BEFORE_CUTS for change in state.changes):
        return
    new = frozenset(name.rpartition(".")[2] for change in state.changes for name in change.new)
    for one in judge_blocks(state.source, state.function, project):
        if isinstance(one, RankedExtraction) and not calls_any_of(one.extracted.block.statements, new):
            block, own = one.extracted.block, describe_code(one.extracted.block.statements)
            owed = state.owed - {own} if state.owed else find_alike_pieces(one.extracted.host, block)
            if not state.owed or own in state.owed:
                yield replace(make_rewrite(state.source, one), score=one.ugly), owed


def apply_rewrite(
    source: PythonSource, function: PythonFunction, change: ProposedRewrite
) -> tuple[PythonSource, PythonFunction] | None:
    """Return the file and the function in it after the change."""
    result = parse_python(source.path, apply_splices(source, list(change.splices)), source.layout)
    again = find_counterpart(source, function, result) if result else None
    return (result, again) if result and again else None


def _iterate_targets(state: PlanState, project: ProjectFacts) -> Iterator[RewriteTarget]:
    """Yield the function and its nested functions, whose decisions count for it, too."""
    for one in state.source.functions:
        if one is state.function or state.function.node in one.around:
            yield RewriteTarget(state.source, one, project)


def _join_changes(source: PythonSource, state: PlanState) -> ProposedRewrite:
    kinds = list(dict.fromkeys(change.kind for change in state.changes))
    if len(state.changes) == 1 and kinds == ["extract"]:
        return replace(state.changes[0], score=state.price + score_remaining_complexity(state.function.complexity))
    heads = "; ".join(dict.fromkeys(_shorten_head(source, state.function, change) for change in state.changes))
    first = min(change.lines[0] for change in state.changes[:1])
    last = max(change.lines[1] for change in state.changes[:1])
    new = tuple(name for change in state.changes for name in change.new)
    score = state.price + score_remaining_complexity(state.function.complexity)
    kind = kinds[0] if len(kinds) == 1 else "combined"
    head = f"in {state.function.name} of {source.path}, {heads}"
    return ProposedRewrite(kind, head, splices_from_difference(source, state.source), (first, last), score, new)


def _shorten_head(source: PythonSource, function: PythonFunction, change: ProposedRewrite) -> str:
    return change.head.replace(f" of {function.name} in {source.path}", "", 1)


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


def suggest_prepared_extractions(source: PythonSource, function: PythonFunction, project: ProjectFacts) -> Iterator[Suggestion]:
    """Yield extractions after a preparing rewrite, only if they bring the function below the limit."""
    found = [change for opening in PREPARING_REWRITES for change in opening(RewriteTarget(source, function, project))]
    ready: list[Suggestion] = []
    for change in sorted(found, key=lambda change: change.score)[:MAX_PREPARATIONS_TRIED]:
        state = apply_rewrite(source, function, change)
        best = next(suggest_extractions(*state, project), None) if state else None
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
    result = parse_python(source.path, best.applied(state[0].text), source.layout)
    if result is None:
        return None
    known = {one.name for one in source.functions}
    new = tuple(one.name for one in result.functions if one.name not in known)
    head = f"{change.head} in {function.name} of {source.path}, then {best.head.rpartition(': complexity')[0]}"
    lines = (min(change.lines[0], best.lines[0]), max(change.lines[1], best.lines[1]))
    one = ProposedRewrite(change.kind, head, splices_from_difference(source, result), lines, best.score + change.score, new)
    return check_rewrite(source, function, one)


def _explain_exempt(source: PythonSource, function: PythonFunction, project: ProjectFacts) -> str:
    """Return why the function is not to be changed, whatever could be done."""
    settings = explain_exempt_function(project.configuration, source.path, function.complexity)
    return settings or explain_copied_code(source, function)


def explain_missing_suggestion(source: PythonSource, function: PythonFunction, project: ProjectFacts = NO_PROJECT) -> str:
    """Return the most important obstacle in words: where there is a way, what is missing on it."""
    if exempt := _explain_exempt(source, function, project):
        return exempt
    judged = list(judge_blocks(project.lay_out(source), function, project))
    possible = [one.extracted.block for one in judged if isinstance(one, RankedExtraction)]
    obstacles = [one for one in judged if isinstance(one, Obstacle)]
    if possible:
        left = function.complexity - _total_cost(possible)
        stays = f"good cuts would leave it at {left}"
        return stays if left > MAX_COMPLEXITY else "alike pieces would stay, or a piece would be over the limit itself"
    if not obstacles:
        return "one decision after another on one level, and none of them a piece of its own"
    nearest = min(obstacles, key=lambda one: one.ugly)
    if nearest.ugly < float("inf"):
        lines = f" for lines {nearest.block.first_line}–{nearest.block.last_line}"
        return nearest.reason + (lines if nearest.reason == NO_NAME else "")
    found: Counter[str] = Counter()
    for one in obstacles:
        found[one.reason] += one.block.cost
    return found.most_common(1)[0][0]


def _total_cost(blocks: list[StatementBlock]) -> int:
    """Return the complexity that blocks which do not overlap could remove."""
    lines: set[int] = set()
    total = 0
    for block in sorted(blocks, key=lambda block: -block.cost):
        own = range(block.first_line, block.last_line + 1)
        if block.cost + 1 <= MAX_COMPLEXITY and lines.isdisjoint(own):
            lines.update(own)
            total += block.cost
    return total


SUGGESTERS: tuple[Suggester, ...] = (suggest_plans,)
"""To add a kind, write a file with a function of this signature and add it here."""
LAST_SUGGESTERS: tuple[Suggester, ...] = (suggest_prepared_extractions,)
"""Expensive, so only used when the others have nothing more."""
MAX_OVERLAP_SHARE = 0.75


def suggest_refactorings(source: PythonSource, function: PythonFunction, project: ProjectFacts) -> Iterator[Suggestion]:
    """Yield suggestions, the best first, without ones similar to an earlier one. `project` says which names
    a new method may not have.
    """
    given: list[Suggestion] = []
    if _explain_exempt(source, function, project):
        return
    for suggestion in iterate_all_suggestions(project.lay_out(source), function, project):
        alike = any(suggestion.overlap(other) > MAX_OVERLAP_SHARE for other in given if other.kind == suggestion.kind)
        if not alike:
            given.append(suggestion)
            yield suggestion


def iterate_all_suggestions(source: PythonSource, function: PythonFunction, project: ProjectFacts) -> Iterator[Suggestion]:
    for kinds in (SUGGESTERS, LAST_SUGGESTERS if project.new_names else ()):
        each = [kind(source, function, project) for kind in kinds]
        yield from heapq.merge(*each, key=lambda suggestion: suggestion.score)
