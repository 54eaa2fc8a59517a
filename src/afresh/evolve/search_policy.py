"""Searches for a better policy on the older recorded work: one setting after the other, rung by rung, until recall may be lost,
and then one rung back. What is found is judged on other work, so it is chosen with more care than the judge asks for."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from afresh.core.context_policy import ContextPolicy
from afresh.evolve.compare_scores import Comparison, RunScore, compare_scores
from afresh.evolve.policy_change import PolicyChange, apply_changes, read_setting

RESAMPLES_PER_TRIAL = 400
MAX_LOSS_IN_SEARCH = 0.003
"""Of recall, at the lower end of the interval: less than the judge allows, for what fits these runs best fits others less."""
RECALL_PRICE = 3.0
"""A point of recall counts as three parts in a hundred of the tokens."""
MIN_USE_OF_CHANGE = 0.003
"""Of the tokens: a change that wins less is left out, for it is likely to be noise."""
SEARCHED_SETTINGS: dict[str, Sequence[float]] = {
    "caps.outline": (0.2, 0.15, 0.1, 0.07, 0.05, 0.03),
    "caps.similar": (0.1, 0.05, 0.0),
    "caps.target": (0.35, 0.3, 0.25, 0.2),
    "caps.fingerprint": (0.1, 0.07, 0.05, 0.03),
    "max_turn_tokens": (800, 640, 500, 400),
    "max_read_tokens": (4_500, 3_400, 2_500, 1_800),
}
"""Descriptions, code that nobody asked for, what was printed and read: by field, values that leave out more and more."""


@dataclass(frozen=True, slots=True)
class SearchResult:
    changes: tuple[PolicyChange, ...] = ()
    found: Comparison | None = None
    """With the policy in use, on the work that was searched; None without changes."""
    tried: int = 0


def search_policy(
    base: ContextPolicy,
    score: Callable[[ContextPolicy], Sequence[RunScore]],
    settings: dict[str, Sequence[float]] = SEARCHED_SETTINGS,
) -> SearchResult:
    """The changes that save tokens without a loss of recall; none if there are none."""
    before, result = score(base), SearchResult()
    for field, rungs in settings.items():
        safe, tried = list[SearchResult](), result.tried
        for value in rungs:
            changes = (*result.changes, PolicyChange(field, read_setting(base, field), value))
            scores = compare_scores(before, score(apply_changes(base, changes)), RESAMPLES_PER_TRIAL)
            tried += 1
            if not is_safe(scores):
                safe = safe[:-1]
                break
            safe.append(SearchResult(changes, scores))
        best = safe[-1] if safe and measure_use(safe[-1].found) >= measure_use(result.found) + MIN_USE_OF_CHANGE else result
        result = SearchResult(best.changes, best.found, tried)
    return result


def is_safe(comparison: Comparison) -> bool:
    return (
        comparison.recall.low >= -MAX_LOSS_IN_SEARCH
        and min(comparison.names.value, comparison.lines.value) >= -MAX_LOSS_IN_SEARCH
    )


def measure_use(comparison: Comparison | None) -> float:
    """Saved tokens, as a part of those before, and what won recall is worth."""
    return RECALL_PRICE * comparison.recall.value - comparison.tokens.value if comparison else 0.0
