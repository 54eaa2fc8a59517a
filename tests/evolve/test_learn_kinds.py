"""What is learnt of kinds of passages: lines that actions never take make room for what they do."""

from collections import Counter, defaultdict

import pytest

from afresh.core.context_policy import DEFAULT_CONTEXT_POLICY
from afresh.evolve.compare_scores import compare_scores
from afresh.evolve.learn_kinds import LineUse, count_line_use, learn_kinds, list_kind_changes
from afresh.evolve.policy_change import MIN_KIND_ODDS, PolicyChange, apply_changes
from afresh.evolve.score_runs import RunNeeds, find_run_needs, open_scorer, score_run
from afresh.evolve.search_policy import search_with_kinds
from afresh.replay.build_contexts import build_contexts
from afresh.replay.run import RecordedRun, RecordedStep, to_trajectory

BUDGET = 600
CHATTER = "output chat"


def make_noisy_run(name: str, steps: int = 20) -> RecordedRun:
    """What `make` prints is written again some steps later, what `chat` prints never is."""
    made = list[RecordedStep]()
    for number in range(steps):
        back = number - number % 2 - 2 * (1 + number * 5 % 7)
        told = [f"the talk goes on and on, part {number} of {line}" for line in range(20)]
        printed = [f"{name}_{number}_{line} = compute_{number}(table_{line})" for line in range(20)]
        line = number * 7 % 20
        action = f"{name}_{back}_{line} = compute_{back}(table_{line})" if back >= 0 else f"look {number}"
        made.append(RecordedStep("", "chat" if number % 2 else "make", action, "\n".join(told if number % 2 else printed)))
    return RecordedRun(name, "tester", "m", "Make the tables right", tuple(made))


@pytest.fixture(scope="module")
def runs() -> list[RunNeeds]:
    return [find_run_needs(make_noisy_run(f"r{number}")) for number in range(5)]


@pytest.fixture(scope="module")
def uses(runs: list[RunNeeds]) -> list[LineUse]:
    return [count_line_use(run, DEFAULT_CONTEXT_POLICY, BUDGET) for run in runs]


def make_use(needed: int, expected: float) -> LineUse:
    return LineUse(Counter({CHATTER: needed}), defaultdict(float, {CHATTER: expected}))


def test_lines_that_no_action_takes_are_learnt_and_others_are_not(uses: list[LineUse]):
    learnt = learn_kinds(uses)
    assert MIN_KIND_ODDS <= learnt[CHATTER] < -1
    assert "output make" not in learnt and sum(one.needed["output make"] for one in uses) > 20


@pytest.mark.parametrize(
    ("found", "is_learnt"),
    [
        ([make_use(0, 20.0)] * 8, True),
        ([make_use(20, 20.0)] * 8, False),
        ([make_use(0, 20.0)] * 7 + [make_use(40, 20.0)], False),
        ([make_use(0, 0.2)] * 8, False),
        ([], False),
    ],
    ids=["never needed", "as expected", "needed often in one run of eight", "met too seldom", "no runs"],
)
def test_a_kind_is_learnt_only_if_nearly_all_draws_of_runs_agree(found: list[LineUse], is_learnt: bool):
    assert (CHATTER in learn_kinds(found)) is is_learnt


def test_what_was_learnt_raises_recall_on_other_runs(uses: list[LineUse]):
    learnt = apply_changes(DEFAULT_CONTEXT_POLICY, list_kind_changes(DEFAULT_CONTEXT_POLICY, learn_kinds(uses)))
    others = [find_run_needs(make_noisy_run(f"s{number}")) for number in range(5)]
    before, after = ([score_run(run, policy, BUDGET) for run in others] for policy in (DEFAULT_CONTEXT_POLICY, learnt))
    assert compare_scores(before, after).recall_rises


def test_lines_of_a_kind_make_room_for_others():
    run, texts = to_trajectory(make_noisy_run("r0")), dict[str, str]()
    for kind in ("none", CHATTER, "output make"):
        policy = apply_changes(
            DEFAULT_CONTEXT_POLICY, [PolicyChange(f"history.ranking.kinds.output {kind.split()[-1]}", None, -3)]
        )
        *_, texts[kind] = build_contexts(run, BUDGET, lambda text: len(text) // 4, policy)
    chatter = {kind: text.count("the talk goes on") for kind, text in texts.items()}
    tables = {kind: text.count("= compute_") for kind, text in texts.items()}
    assert chatter[CHATTER] < chatter["none"] < chatter["output make"]
    assert tables[CHATTER] > tables["none"] > tables["output make"]


def test_what_is_known_already_is_no_change_and_what_no_longer_holds_is_taken_back():
    policy = apply_changes(DEFAULT_CONTEXT_POLICY, [PolicyChange("history.ranking.kinds.output old", None, -2.0)])
    assert list_kind_changes(policy, {"output old": -2.0}) == ()
    (gone,) = list_kind_changes(policy, {})
    assert apply_changes(policy, [gone]).history.ranking.kinds == ()


def test_the_search_takes_what_was_learnt_only_if_it_is_of_use(uses: list[LineUse]):
    kinds = list_kind_changes(DEFAULT_CONTEXT_POLICY, learn_kinds(uses))
    wrong = (PolicyChange("history.ranking.kinds.output make", None, -3.0),)
    with open_scorer([make_noisy_run(f"r{number}") for number in range(5)], BUDGET) as score:
        found, misled, alone = (
            search_with_kinds(DEFAULT_CONTEXT_POLICY, lambda one: score(one, 1), some) for some in (kinds, wrong, ())
        )
    assert set(kinds) <= set(found.changes) and found.found and found.found.recall.value > 0
    assert misled.changes == alone.changes
