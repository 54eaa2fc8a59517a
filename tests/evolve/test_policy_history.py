"""Policies are versioned in the user's notebook, used for a share of the tasks, and taken back when tasks fare worse."""

from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from afresh.core.codec import to_canonical_json
from afresh.core.context_policy import DEFAULT_CONTEXT_POLICY
from afresh.core.policy_history import (
    PolicyAdopted,
    PolicyHistory,
    PolicyOutcomeNoted,
    PolicyRolledBack,
    choose_policy,
    fold_policy_events,
)
from afresh.evolve import detect_regression as detect
from afresh.evolve.detect_regression import LOOKS, detect_regression
from afresh.evolve.policy_change import PolicyChange, apply_changes
from afresh.storage.sqlite.storage import open_sqlite_storage
from support.fakes import FakeClock

ONE = apply_changes(DEFAULT_CONTEXT_POLICY, [PolicyChange("max_output_characters", 12_000, 900)])
TWO = apply_changes(ONE, [PolicyChange("max_output_characters", 900, 1_000)])


def adopt(policy, share: float = 1.0, project: str = "/p") -> PolicyAdopted:
    return PolicyAdopted(project, to_canonical_json(policy), share)


def fold(*events: object) -> PolicyHistory:
    return fold_policy_events(enumerate(events), "/p")


def test_the_latest_whole_adoption_is_in_use_and_a_roll_back_brings_the_one_before():
    assert fold().stable == DEFAULT_CONTEXT_POLICY
    assert fold(adopt(ONE), adopt(TWO)).stable == TWO
    assert fold(adopt(ONE), adopt(TWO), PolicyRolledBack("/p", TWO.id, "worse")).stable == ONE
    gone = [PolicyRolledBack("/p", one.id, "worse") for one in (TWO, ONE)]
    assert fold(adopt(ONE), adopt(TWO), *gone).stable == DEFAULT_CONTEXT_POLICY


def test_a_policy_of_another_project_is_not_used():
    assert fold(adopt(ONE, project="/other")).stable == DEFAULT_CONTEXT_POLICY


def test_a_canary_has_its_share_of_the_tasks_and_each_task_the_same_policy_always():
    history = fold(adopt(ONE), adopt(TWO, 0.25))
    tasks = [f"task-{number}" for number in range(2_000)]
    chosen = [choose_policy(history, task) for task in tasks]
    assert {policy.id for policy in chosen} == {ONE.id, TWO.id}
    assert sum(policy == TWO for policy in chosen) / len(tasks) == pytest.approx(0.25, abs=0.04)
    assert chosen == [choose_policy(history, task) for task in tasks]
    assert history.before_latest == ONE


def test_the_history_is_rebuilt_from_the_notebook_on_disk(tmp_path: Path):
    storage = open_sqlite_storage(tmp_path, tmp_path / "user", FakeClock())
    storage.user_notebook.append([adopt(ONE), adopt(TWO, 0.5), PolicyOutcomeNoted("/p", "t", TWO.id, True, 4, 10)])
    storage.close()
    again = open_sqlite_storage(tmp_path, tmp_path / "user", FakeClock())
    found = fold_policy_events(((entry.at, entry.event) for entry in again.user_notebook.entries()), "/p")
    again.close()
    assert found.stable == ONE and found.canary and found.canary.policy == TWO
    assert [one.task for one in found.outcomes] == ["t"]


def make_outcomes(policy: str, count: int, success: float, steps: float, rng: Random) -> list[PolicyOutcomeNoted]:
    return [
        PolicyOutcomeNoted(
            "/p", f"{policy}{number}", policy, rng.random() < success, max(1, int(rng.lognormvariate(2.3, 0.5) * steps)), 1_000
        )
        for number in range(count)
    ]


def watch(success: float, steps: float, seed: int, tasks: int = 48) -> bool:
    """Whether a policy is taken back while its tasks end; between two looks nothing new is seen."""
    rng = Random(seed)
    control, treated = make_outcomes("a", 40, 0.85, 1.0, rng), make_outcomes("b", tasks, success, steps, rng)
    return any(detect_regression(control, treated[:ended]) for ended in detect.LOOKS)


def test_noise_alone_takes_hardly_any_policy_back(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("afresh.evolve.detect_regression.PERMUTATIONS", 500)
    assert sum(watch(0.85, 1.0, seed) for seed in range(30)) <= 3


@pytest.mark.parametrize(("success", "steps"), [(0.35, 1.0), (0.85, 2.0)])
def test_a_real_regression_is_taken_back(success: float, steps: float, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("afresh.evolve.detect_regression.PERMUTATIONS", 500)
    assert sum(watch(success, steps, seed) for seed in range(10)) >= 9


def test_cost_that_grows_is_a_regression_and_a_little_more_is_none():
    rng = Random(3)
    control, treated = make_outcomes("a", 40, 1.0, 1.0, rng), make_outcomes("b", LOOKS[1], 1.0, 1.0, rng)
    dearer = [replace(one, cost=2_000) for one in treated]
    found = detect_regression(control, dearer)
    assert found and found.what == "cost" and found.after == 2_000
    assert detect_regression(control, [replace(one, cost=1_050) for one in treated]) is None


def test_too_few_tasks_say_nothing():
    rng = Random(1)
    control, treated = make_outcomes("a", 40, 1.0, 1.0, rng), make_outcomes("b", LOOKS[0] - 1, 0.0, 9.0, rng)
    assert detect_regression(control, treated) is None
    assert detect_regression(control[:3], make_outcomes("b", 20, 0.0, 9.0, rng)) is None
