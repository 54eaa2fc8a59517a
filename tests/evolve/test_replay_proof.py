"""A policy is judged by replay: what the next action needed, at how many tokens, beyond noise."""

from dataclasses import replace
from random import Random

import pytest

from afresh.core.context_policy import DEFAULT_CONTEXT_POLICY, ContextPolicy
from afresh.evolve.compare_scores import RunScore, StepScore, compare_scores
from afresh.evolve.search_policy import SearchResult, is_safe, search_policy


def make_scores(names_held: int, tokens: int, noise: float = 0.0, runs: int = 12, seed: int = 1) -> list[RunScore]:
    rng = Random(seed)
    return [
        RunScore(f"r{run}", tuple(StepScore(int(tokens + rng.gauss(0, noise)), 10, names_held, 4, 4) for _ in range(20)))
        for run in range(runs)
    ]


@pytest.mark.parametrize(
    ("held", "tokens", "verdict"),
    [
        (9, 1_000, "recall rises at the same budget"),
        (8, 800, "tokens fall at the same recall"),
        (9, 800, "recall rises and tokens fall"),
        (7, 800, "recall may fall"),
        (9, 1_200, "no difference beyond noise"),
        (8, 1_000, "no difference beyond noise"),
    ],
)
def test_the_verdict_follows_from_the_intervals(held: int, tokens: int, verdict: str):
    found = compare_scores(make_scores(8, 1_000), make_scores(held, tokens))
    assert found.verdict == verdict and found.is_better == ("rise" in verdict or "fall at" in verdict)


def test_noise_is_not_taken_for_a_gain():
    taken = sum(
        compare_scores(
            make_scores(8, 1_000, 300, seed=seed), make_scores(8, 1_000, 300, seed=seed + 1_000), resamples=100
        ).is_better
        for seed in range(60)
    )
    assert taken <= 6, "one in forty by chance"


def test_few_runs_are_drawn_by_blocks_of_steps():
    assert compare_scores(make_scores(8, 1_000, runs=2), make_scores(9, 1_000, runs=2)).unit == "10 steps"
    assert compare_scores(make_scores(8, 1_000), make_scores(9, 1_000)).unit == "runs"


def play_search(losses: dict[float, int], tokens: dict[float, int]) -> SearchResult:
    """A search over one setting whose values hold so many names less, at so many tokens."""

    def score(policy: ContextPolicy) -> list[RunScore]:
        value = policy.max_turn_tokens
        return make_scores(9 - losses.get(value, 0), tokens.get(value, 1_000))

    return search_policy(DEFAULT_CONTEXT_POLICY, score, {"max_turn_tokens": tuple(tokens)})


def test_the_search_stops_where_recall_may_be_lost_and_takes_one_rung_back():
    tokens = {800: 950, 700: 900, 600: 800, 500: 500}
    found = play_search({600: 1}, tokens)
    assert [change.after for change in found.changes] == [800] and found.tried == 3
    assert found.found and found.found.tokens.value == pytest.approx(-0.05)


def test_where_nothing_is_lost_the_last_rung_is_taken():
    found = play_search({}, {800: 950, 700: 900})
    assert [change.after for change in found.changes] == [700]


@pytest.mark.parametrize(
    ("losses", "tokens"),
    [({800: 1}, {800: 500}), ({}, {800: 999}), ({700: 1}, {800: 990, 700: 500}), ({}, {800: 1_100})],
    ids=["recall is lost", "too little is saved", "nothing is left one rung back", "tokens rise"],
)
def test_a_search_that_finds_nothing_better_changes_nothing(losses: dict[float, int], tokens: dict[float, int]):
    found = play_search(losses, tokens)
    assert (found.changes, found.found) == ((), None)


def test_a_loss_within_noise_of_one_run_is_too_much_for_the_search():
    """The judge allows half a point at the lower end of the interval, the search less: what it finds has room to be worse."""
    before = make_scores(9, 1_000)
    worse = replace(before[0], steps=tuple(replace(step, names_held=8) for step in before[0].steps[:4]) + before[0].steps[4:])
    found = compare_scores(before, [worse, *before[1:]])
    assert found.recall_holds and not is_safe(found)
