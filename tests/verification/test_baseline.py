"""How often the checks run before the first change."""

from dataclasses import replace
from typing import Any, cast

import pytest

from afresh.core.action import CommandRun
from afresh.core.progress_event import BaselineRunBegan, ProgressEvent
from afresh.core.state import State
from afresh.core.task import Check, Task
from afresh.ports.tool import ToolContext
from afresh.verification.baseline import REPEAT_IF_SHORT, run_baseline_checks
from support.fakes import EmptyInsight

GREEN = CommandRun("check", 0, "2 passed in 1s\n", seconds=61.0)
SHORT = replace(GREEN, seconds=60.0)
RED = replace(GREEN, exit=1, output="FAILED t.py::test_a - no\n1 failed, 1 passed in 1s\n")


class TimedSandbox:
    """Each command ends as told, one after another."""

    level = "table"

    def __init__(self, *ends: CommandRun) -> None:
        self.ends, self.ran = list(ends), list[str]()

    def run(self, command: str, timeout: float, reports: bool = False, **_: Any) -> CommandRun:
        self.ran.append(command)
        return self.ends.pop(0)


def measured(sandbox: TimedSandbox, repeat: str = REPEAT_IF_SHORT) -> tuple[Any, list[ProgressEvent]]:
    told: list[ProgressEvent] = []
    task = Task(id="t", goal="g", checks=(Check("check"),))
    context = cast(ToolContext, _Context(State(task=task), sandbox))
    baseline, _ = run_baseline_checks(context, told.append, repeat)
    return baseline, told


class _Context:
    insight, files = EmptyInsight(), None

    def __init__(self, state: State, sandbox: TimedSandbox) -> None:
        self.state, self.sandbox = state, sandbox


@pytest.mark.parametrize(
    ("first", "repeat", "runs"),
    [
        (GREEN, "", 1),
        (SHORT, "", 2),
        (RED, "", 2),
        (replace(GREEN, timed_out=True, exit=124), "", 2),
        (SHORT, "once", 1),
        (RED, "once", 1),
        (GREEN, "twice", 2),
    ],
    ids=["long and green", "short", "red", "timed out", "once", "once, red", "twice"],
)
def test_a_second_run_is_left_out_where_the_first_was_long_and_green(first: CommandRun, repeat: str, runs: int) -> None:
    sandbox = TimedSandbox(first, first)
    baseline, told = measured(sandbox, repeat)
    assert len(sandbox.ran) == runs == len(told)
    assert baseline.once == (("check",) if runs == 1 else ()) and len(baseline.runs) == 1
    assert told[0] == BaselineRunBegan("check", 1, 1 if repeat == "once" else 2)


def test_what_differs_between_two_runs_is_flaky_and_the_second_stands() -> None:
    baseline, _ = measured(TimedSandbox(RED, SHORT))
    assert baseline.flaky and baseline.runs[0].exit == 0
