"""Searches for a better policy on the older recorded work: one setting after the other, rung by rung, until recall may be lost,
and then one rung back. What is found is judged on other work, so it is chosen with more care than the judge asks for."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache

from afresh.core.context_policy import ContextPolicy
from afresh.evolve.compare_scores import Comparison, compare_scores
from afresh.evolve.policy_change import PolicyChange, apply_changes, read_setting
from afresh.evolve.score_runs import RunScore

RESAMPLES_PER_TRIAL = 400
MAX_LOSS_IN_SEARCH = 0.003
"""Of recall, at the lower end of the interval: less than the judge allows, for what fits these runs best fits others less."""
RECALL_PRICE = 3.0
"""A point of recall counts as three parts in a hundred of the tokens."""
MIN_USE_OF_CHANGE = 0.003
"""Of the tokens: a change that wins less is left out, for it is likely to be noise."""


@dataclass(frozen=True, slots=True)
class SearchedSetting:
    field: str
    rungs: tuple[float, ...]
    """Values that leave out more and more."""


RECORDED_RUN_SETTINGS = (
    SearchedSetting("history.ranking.min_worth", (2e-5, 2.8e-5, 4e-5, 5.6e-5, 8e-5, 1.1e-4, 1.6e-4, 2.2e-4)),
)
"""Of the prompts of runs that other agents made, which have no code and no lessons. Other settings made no difference there, or
not the same in other runs (docs/internals/benchmarks.md)."""
OWN_TASK_SETTINGS = (
    SearchedSetting("allocation.caps.outline", (0.2, 0.15, 0.1, 0.07, 0.05, 0.03)),
    SearchedSetting("allocation.caps.similar", (0.1, 0.05, 0.0)),
    SearchedSetting("allocation.caps.target", (0.35, 0.3, 0.25, 0.2)),
    SearchedSetting("allocation.caps.fingerprint", (0.1, 0.07, 0.05, 0.03)),
    SearchedSetting("allocation.extension.max_turn_tokens", (800, 640, 500, 400)),
    SearchedSetting("allocation.extension.max_read_tokens", (4_500, 3_400, 2_500, 1_800)),
)
"""Of the prompts of own tasks: descriptions, code that nobody asked for, what was printed and read."""
PolicyScorer = Callable[[ContextPolicy], Sequence[RunScore]]


@dataclass(frozen=True, slots=True)
class SearchResult:
    changes: tuple[PolicyChange, ...] = ()
    found: Comparison | None = None
    """With the policy in use, on the work that was searched; None without changes."""
    tried: int = 0


def search_policy(
    base: ContextPolicy,
    score: PolicyScorer,
    settings: Sequence[SearchedSetting] = RECORDED_RUN_SETTINGS,
    seed: int = 0,
) -> SearchResult:
    """The changes that save tokens without a loss of recall; none if there are none."""
    before, result = score(base), SearchResult()
    for setting in settings:
        safe, tried = list[SearchResult](), result.tried
        for value in setting.rungs:
            changes = (*result.changes, PolicyChange(setting.field, read_setting(base, setting.field), value))
            found = compare_scores(before, score(apply_changes(base, changes)), seed, RESAMPLES_PER_TRIAL)
            tried += 1
            if not is_safe(found):
                safe = safe[:-1]
                break
            safe.append(SearchResult(changes, found))
        best = safe[-1] if safe and measure_use(safe[-1].found) >= measure_use(result.found) + MIN_USE_OF_CHANGE else result
        result = SearchResult(best.changes, best.found, tried)
    return result


def search_with_kinds(base: ContextPolicy, score: PolicyScorer, kinds: Sequence[PolicyChange], seed: int = 0) -> SearchResult:
    """The better of two: what the search finds alone, and what it finds once lines of some kinds count less."""
    score = cache(score)
    plain = search_policy(base, score, seed=seed)
    if not kinds:
        return plain
    more = search_policy(apply_changes(base, kinds), score, seed=seed)
    changes = (*kinds, *more.changes)
    found = compare_scores(score(base), score(apply_changes(base, changes)), seed, RESAMPLES_PER_TRIAL)
    better = found.recall.value >= -MAX_LOSS_IN_SEARCH and measure_use(found) >= measure_use(plain.found) + MIN_USE_OF_CHANGE
    return replace(SearchResult(changes, found) if better else plain, tried=plain.tried + more.tried + 1)


def is_safe(found: Comparison) -> bool:
    return found.recall.low >= -MAX_LOSS_IN_SEARCH and min(found.names.value, found.lines.value) >= -MAX_LOSS_IN_SEARCH


def measure_use(found: Comparison | None) -> float:
    """Saved tokens, as a part of those before, and what won recall is worth."""
    return RECALL_PRICE * found.recall.value - found.tokens.value if found else 0.0
