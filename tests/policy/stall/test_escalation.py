"""A model that misbehaves in one way is warned of it, made to go about it another way, and stopped with the evidence."""

from dataclasses import dataclass, replace

import pytest
from yard import Step, Yard, other, quiet, sets

from afresh.core.event import QuestionAsked
from afresh.core.states.progress_state import StallThresholds
from afresh.core.states.strategy_state import PLAN_EXECUTE_STRATEGY, StrategyChanged
from afresh.core.task import TaskStatus

CALM = StallThresholds(idle_steps=(), idle_tokens=())


def cycle(command: str, text: str, count: int) -> tuple[int, str]:
    value = text.rpartition("value = ")[2].split("\n")[0]
    return (1, f"calc.py:{count}: error: case {value} at 0x7f{count:04x} fails") if "check" in command else (0, "")


@dataclass(frozen=True)
class Way:
    """One way of getting nowhere, and the steps at which the harness does something about it."""

    sign: str
    answer: object
    steps: tuple[int, int, int]
    evidence: str
    patience: StallThresholds = CALM
    printed: object = quiet
    plans: bool = True

    def __str__(self) -> str:
        return self.sign


def fourth(step: int) -> list[Step]:
    return [("read", {"path": f"nowhere{step}.py"})] if step != 2 else [other(step)]


WAYS = (
    Way("repeated", lambda step: [("run", {"command": "list"})], (3, 5, 8), "did the same with the same result: run list"),
    Way(
        "repeated",
        lambda step: [("run", {"command": "list"}) if step % 2 else other(step)],
        (5, 9, 13),
        "steps 3, 5, 7, 9, 11 and 13",
    ),
    Way(
        "cycling",
        lambda step: [sets("AB"[step % 2], step)],
        (5, 7, 11),
        "came back to the same failure",
        replace(CALM, repeats=(3, 4, 5)),
        cycle,
    ),
    Way("repeated", lambda step: [("read", {"path": "calc.py", "start": 10})], (3, 5, 8), "the same result: read calc.py"),
    Way("failing", fourth, (5, 6, 8), "6 steps in a row did nothing that worked", replace(CALM, repeats=(3, 4, 6)), plans=False),
    Way("idle_steps", lambda step: [other(step)], (5, 7, 9), "9 steps without verified", replace(CALM, idle_steps=(5, 7, 9))),
    Way("idle_tokens", lambda step: [other(step)], (1, 2, 3), "tokens without verified", replace(CALM, idle_tokens=(1, 2, 3))),
)


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_it_is_warned_then_turned_then_stopped(way: Way):
    yard = Yard(way.answer, way.printed, way.patience, plans=way.plans)
    state = yard.works()
    warned, turned, stopped = way.steps
    assert yard.rungs(way.sign) == [(warned, "warned"), (turned, "turned"), (stopped, "stopped")]
    assert (state.status, state.work.step) == (TaskStatus.BLOCKED, stopped)
    assert "No progress" not in yard.foot(warned)
    assert "Do something else." in yard.foot(warned + 1) and "Try a different approach" in yard.foot(turned + 1)
    assert [(one.step, one.loop) for one in yard.events(StrategyChanged)] == [(turned, PLAN_EXECUTE_STRATEGY)]
    (asked,) = yard.events(QuestionAsked)
    assert asked.by == "harness" and way.evidence in asked.question and "The task is stuck" in state.work.outcome
    assert (
        f"{stopped} steps" in asked.question
        and f"in all {stopped} calls" in asked.question
        and asked.options[0].startswith("go on: ")
    )


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_an_answer_counts_anew(way: Way):
    yard = Yard(way.answer, way.printed, way.patience, plans=way.plans)
    first = yard.works().work.step
    second = yard.answers("go on")
    assert second.status is TaskStatus.BLOCKED and second.dialogue.words == ("go on",)
    assert [rung for _, rung in yard.rungs(way.sign)] == ["warned", "turned", "stopped"] * 2
    assert second.work.step - first >= way.steps[2] - 2, "not sooner than the first time, but for what led up to it"


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_a_sign_that_is_switched_off_stops_nothing(way: Way):
    off = replace(way.patience, repeats=(), idle_steps=(), idle_tokens=())
    yard = Yard(way.answer, way.printed, off, plans=way.plans, max_steps=way.steps[2] + 4)
    state = yard.works()
    assert not yard.rungs(way.sign) and "limit" in state.dialogue.question


def test_rungs_that_are_left_out_are_passed_over():
    yard = Yard(WAYS[0].answer, patience=replace(CALM, repeats=(0, 0, 4)))
    assert yard.works().work.step == 4 and yard.rungs("repeated") == [(4, "stopped")]
    endless = Yard(WAYS[0].answer, patience=replace(CALM, repeats=(2,)), max_steps=12)
    assert endless.works().work.step == 12 and endless.rungs("repeated") == [(2, "warned")]


def test_many_of_the_same_in_one_reply_climb_one_rung():
    yard = Yard(lambda step: [("run", {"command": "list"})] * 8 if step == 1 else [other(step)], patience=CALM, max_steps=9)
    yard.works()
    assert yard.rungs("repeated") == [(1, "warned"), (6, "")], "a warning must be read before it can be disregarded"


def test_the_repeated_action_is_refused_until_the_tree_changes():
    def answer(step: int) -> list[Step]:
        return [sets("new")] if step == 8 else [("run", {"command": "list"})]

    yard = Yard(answer, patience=replace(CALM, repeats=(3, 5, 0)), max_steps=9)
    state = yard.works()
    texts = {past.step: past.observations[0].text for past in state.memory.recent}
    assert texts[7].startswith("not done again: steps 1, 2, 3, 4 and 5 did the same")
    assert "3 items" in texts[5] and "3 items" in texts[9]


def test_a_warning_that_is_heeded_goes_away():
    yard = Yard(lambda step: [("run", {"command": "list"}) if step < 4 else other(step)], patience=CALM, max_steps=12)
    yard.works()
    assert yard.rungs("repeated") == [(3, "warned"), (8, "")]
    assert "No progress" in yard.foot(8) and "No progress" not in yard.foot(9)
