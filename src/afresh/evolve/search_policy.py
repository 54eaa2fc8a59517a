"""Searches for a better policy on the older recorded runs. With a seed, so that the result can be repeated."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import log
from random import Random
from typing import Any

from afresh.core.context_policy import ContextPolicy
from afresh.evolve.compare_scores import Comparison, compare_scores
from afresh.evolve.policy_change import PolicyChange, apply_changes, read_setting
from afresh.evolve.score_runs import Scorer

DEFAULT_TRIALS = 30
RESAMPLES_PER_TRIAL = 200
RECALL_PRICE = 100.0
"""A point of recall that may be lost counts as all tokens: the search looks for policies that lose none."""
RECALL_BONUS = 3.0
"""A point of recall that is won counts as three parts in a hundred of the tokens."""
MIN_USE_OF_CHANGE = 0.003
"""Of the tokens: a change that wins less is left out, for it is likely to be noise."""


@dataclass(frozen=True, slots=True)
class SearchedSetting:
    field: str
    least: float
    most: float
    logarithmic: bool = False


RECORDED_RUN_SETTINGS = (
    SearchedSetting("history.ranking.min_worth", 1e-6, 3e-4, logarithmic=True),
    SearchedSetting("history.ranking.weights.line", -0.2, 0.4),
    SearchedSetting("history.ranking.weights.density", -0.15, 0.25),
    SearchedSetting("history.max_name_index_share", 0.1, 0.22),
    SearchedSetting("allocation.caps.last", 0.1, 0.35),
)
"""What decides the prompts of runs that other agents made: they have no code and no lessons."""


@dataclass(frozen=True, slots=True)
class SearchResult:
    changes: tuple[PolicyChange, ...]
    objective: float
    tried: int
    method: str


def search_policy(
    base: ContextPolicy,
    score: Scorer,
    settings: Sequence[SearchedSetting] = RECORDED_RUN_SETTINGS,
    trials: int = DEFAULT_TRIALS,
    seed: int = 0,
) -> SearchResult:
    """The best changes that were tried; none if nothing beat the policy in use."""
    before = score(base, 1)

    def rate(values: Mapping[str, float]) -> float:
        candidate = apply_changes(base, to_changes(base, values))
        return rate_comparison(compare_scores(before, score(candidate, 1), seed, RESAMPLES_PER_TRIAL))

    best, value, method = choose_search(settings, rate, trials, seed)
    best, value = drop_useless_changes(best, value, rate)
    found = to_changes(base, best) if value < 1.0 else []
    return SearchResult(tuple(found), value, trials, method)


def drop_useless_changes(best: dict[str, float], value: float, rate: "Rate") -> tuple[dict[str, float], float]:
    """Without the changes that make no difference; fewer changes are less likely to fit the runs by accident."""
    for field in sorted(best, reverse=True):
        fewer = {name: held for name, held in best.items() if name != field}
        if fewer and (without := rate(fewer)) <= value + MIN_USE_OF_CHANGE:
            best, value = fewer, without
    return best, value


def rate_comparison(found: Comparison) -> float:
    """Lower is better; the policy in use has 1: tokens as a part of its tokens, and a price for recall that may be lost."""
    lost = max(0.0, -found.recall.low) + sum(max(0.0, -one.value) for one in (found.names, found.lines)) / 4
    return 1 + found.tokens.value + RECALL_PRICE * lost - RECALL_BONUS * max(0.0, found.recall.low)


def to_changes(base: ContextPolicy, values: Mapping[str, float]) -> list[PolicyChange]:
    """What the values change, rounded to what a person can read."""
    return [PolicyChange(field, read_setting(base, field), float(f"{value:.3g}")) for field, value in values.items()]


Rate = Callable[[Mapping[str, float]], float]


def choose_search(settings: Sequence[SearchedSetting], rate: Rate, trials: int, seed: int) -> tuple[dict[str, float], float, str]:
    """By optuna if it is installed (the extra `evolve`), else by a random search."""
    try:
        import optuna
    except ImportError:
        return *search_at_random(settings, rate, trials, seed), "random"
    return *search_with_optuna(optuna, settings, rate, trials, seed), f"optuna {optuna.__version__}"


def search_with_optuna(
    optuna: Any, settings: Sequence[SearchedSetting], rate: Rate, trials: int, seed: int
) -> tuple[dict[str, float], float]:
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    sampler = optuna.samplers.TPESampler(seed=seed, multivariate=True, n_startup_trials=max(4, trials // 4))
    study = optuna.create_study(direction="minimize", sampler=sampler)

    def try_values(trial: Any) -> float:
        return rate({one.field: trial.suggest_float(one.field, one.least, one.most, log=one.logarithmic) for one in settings})

    study.optimize(try_values, n_trials=trials)
    return dict(study.best_params), float(study.best_value)


def search_at_random(settings: Sequence[SearchedSetting], rate: Rate, trials: int, seed: int) -> tuple[dict[str, float], float]:
    """Half of the trials anywhere, the rest near the best so far."""
    rng, best, least = Random(seed), dict[str, float](), float("inf")
    for number in range(trials):
        near = best if number >= trials // 2 else {}
        values = {one.field: _draw_value(one, near.get(one.field), rng) for one in settings}
        if (value := rate(values)) < least:
            best, least = values, value
    return best, least


def _draw_value(one: SearchedSetting, near: float | None, rng: Random) -> float:
    low, high = (log(one.least), log(one.most)) if one.logarithmic else (one.least, one.most)
    if near is None:
        drawn = rng.uniform(low, high)
    else:
        middle = log(near) if one.logarithmic else near
        drawn = min(high, max(low, rng.gauss(middle, (high - low) / 8)))
    return 2.718281828459045**drawn if one.logarithmic else drawn
