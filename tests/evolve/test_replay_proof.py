"""A policy is judged by replay: what the next action needed, at how many tokens, beyond noise."""

from random import Random

import pytest
from recorded import make_runs

from afresh.core.context_policy import DEFAULT_CONTEXT_POLICY
from afresh.evolve import search_policy as searching
from afresh.evolve.compare_scores import compare_scores
from afresh.evolve.policy_change import PolicyChange, apply_changes
from afresh.evolve.score_runs import RunScore, StepScore, find_run_needs, open_scorer, score_run
from afresh.evolve.search_policy import SearchedSetting, choose_search, rate_comparison, search_at_random, search_policy

BUDGET = 1_000
WASTEFUL = apply_changes(DEFAULT_CONTEXT_POLICY, [PolicyChange("history.ranking.min_worth", 0.0, 1e-3)])
STARVED = apply_changes(DEFAULT_CONTEXT_POLICY, [PolicyChange("allocation.caps.work", None, 0.01)])


def make_scores(names_held: int, tokens: int, noise: float = 0.0, runs: int = 12, seed: int = 1) -> list[RunScore]:
    rng = Random(seed)
    return [
        RunScore(f"r{run}", tuple(StepScore(int(tokens + rng.gauss(0, noise)), 10, names_held, 4, 4) for _ in range(20)))
        for run in range(runs)
    ]


def test_two_processes_score_as_one_does():
    runs = make_runs(3)
    with open_scorer(runs, BUDGET) as one, open_scorer(runs, BUDGET, workers=2) as two:
        assert one(DEFAULT_CONTEXT_POLICY, 3) == two(DEFAULT_CONTEXT_POLICY, 3)


def test_no_context_exceeds_the_budget_and_each_is_scored():
    (run,) = make_runs(1)
    found = score_run(find_run_needs(run), DEFAULT_CONTEXT_POLICY, BUDGET)
    assert len(found.steps) == len(run.steps) - 1
    assert max(step.tokens for step in found.steps) <= BUDGET
    assert sum(step.lines for step in found.steps) > 5


def test_a_section_without_room_loses_recall_and_is_rejected():
    runs = make_runs(5)
    with open_scorer(runs, BUDGET) as score:
        found = compare_scores(score(DEFAULT_CONTEXT_POLICY, 1), score(STARVED, 1))
    assert found.tokens.is_below_zero, "who looks at tokens alone would adopt it"
    assert found.recall.is_below_zero
    assert not found.is_better and found.verdict == "recall may fall"


def test_lines_that_are_hardly_ever_needed_are_left_out_at_the_same_recall():
    runs = make_runs(5)
    with open_scorer(runs, BUDGET) as score:
        found = compare_scores(score(DEFAULT_CONTEXT_POLICY, 1), score(WASTEFUL, 1))
    assert found.tokens_fall and found.recall.low >= 0


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


def test_the_same_seed_finds_the_same_policy():
    with open_scorer(make_runs(3), BUDGET) as score:
        first, again = (search_policy(DEFAULT_CONTEXT_POLICY, score, trials=3, seed=5) for _ in range(2))
    assert first == again and first.method.startswith("optuna")


def test_a_search_without_optuna_is_random_and_repeatable(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(__import__("sys").modules, "optuna", None)
    settings = [SearchedSetting("x", 0.0, 1.0), SearchedSetting("y", 1e-6, 1.0, logarithmic=True)]

    def rate(values) -> float:
        return (values["x"] - 0.3) ** 2 + (values["y"] - 1e-3) ** 2

    best, value, method = choose_search(settings, rate, 200, seed=2)
    assert method == "random" and best["x"] == pytest.approx(0.3, abs=0.05) and value < 0.01
    assert search_at_random(settings, rate, 200, 2) == (best, value)


def test_a_search_that_finds_nothing_better_changes_nothing(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(searching, "rate_comparison", lambda found: 1.0 + rate_comparison(found))
    with open_scorer(make_runs(2), BUDGET) as score:
        assert search_policy(DEFAULT_CONTEXT_POLICY, score, trials=2).changes == ()
