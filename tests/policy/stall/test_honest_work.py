"""What looks alike and is honest work: nothing is noticed."""

import pytest
from yard import Step, Yard, other, sets

from afresh.core.states.progress_state import StallNoticed, StallThresholds

CALM = StallThresholds(idle_steps=(), idle_tokens=())


def failing_less(command: str, text: str, count: int) -> tuple[int, str]:
    """Each change that is made mends one test more."""
    broken = 40 - int(text.rpartition("value = ")[2].split("\n")[0])
    lines = [f"FAILED test_calc.py::test_{number} - AssertionError" for number in range(broken)]
    return (
        (1, "\n".join([*lines, f"=== {broken} failed, {40 - broken} passed in 0.{count}s ==="]))
        if "check" in command
        else (0, "")
    )


def check_after_each_change(step: int) -> list[Step]:
    return [("run", {"command": "check -q"})] if step % 2 else [sets(step, step)]


def read_after_each_change(step: int) -> list[Step]:
    return [("read", {"path": "calc.py", "start": 150})] if step % 2 else [sets(step, step)]


def read_on(step: int) -> list[Step]:
    """One part of a long file after the other."""
    return [("read", {"path": "calc.py", "start": 1 + 8 * (step % 24), "lines": 8})]


def experiments(step: int) -> list[Step]:
    """Each is made, looked at and taken back."""
    return [[sets(f"try_{step}")], [("run", {"command": f"look {step}"})], [sets(1)]][step % 3]


def two_commands_in_turn(step: int) -> list[Step]:
    """One that works and one that does not yet, after every change."""
    return [[sets(step, step)], [("run", {"command": "list"})], [("run", {"command": "check -x"})]][step % 3]


def waits(step: int) -> list[Step]:
    return [("run", {"command": "status"})]


def same_error_until_mended(step: int) -> list[Step]:
    """A test that stays red over many changes is work, not a circle."""
    return [sets(step, step), ("run", {"command": "check"})]


HONEST = (check_after_each_change, read_after_each_change, read_on, experiments, two_commands_in_turn, same_error_until_mended)


@pytest.mark.parametrize("answer", HONEST)
def test_nothing_is_noticed(answer):
    yard = Yard(answer, patience=CALM, max_steps=30)
    assert "limit of 30 steps" in yard.works().dialogue.question and not yard.events(StallNoticed)


def test_a_command_that_prints_something_else_each_time_is_not_repeated():
    yard = Yard(waits, lambda command, text, count: (0, f"{count} of 90 jobs done"), CALM, max_steps=30)
    assert "limit of 30 steps" in yard.works().dialogue.question and not yard.events(StallNoticed)


def test_checks_that_fail_less_and_less_are_progress():
    yard = Yard(lambda step: [sets(step, step)], failing_less, StallThresholds(idle_steps=(2, 3, 4)), max_steps=30)
    assert "limit of 30 steps" in yard.works().dialogue.question and not yard.events(StallNoticed)


def test_items_of_the_plan_that_are_done_with_changes_are_progress_and_without_are_not():
    def plan(step: int) -> Step:
        return "plan", {"items": [f"[{'x' if number <= step // 3 else ' '}] part {number}" for number in range(1, 12)]}

    def works(step: int) -> list[Step]:
        return [sets(step, step), plan(step)]

    patience = StallThresholds(idle_steps=(4, 5, 6))
    honest = Yard(works, patience=patience, max_steps=30)
    assert "limit of 30 steps" in honest.works().dialogue.question and not honest.rungs("idle_steps")
    only_says_so = Yard(lambda step: [other(step), plan(step)], patience=patience, max_steps=30)
    assert only_says_so.works().work.step == 6 and [rung for _, rung in only_says_so.rungs("idle_steps")] == [
        "warned",
        "turned",
        "stopped",
    ]
