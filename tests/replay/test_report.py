"""The report as JSON, and its worst moments."""

import json
from dataclasses import replace

from afresh.replay.measure_run import NeededReference, StepMeasurement
from afresh.replay.report import (
    InputCost,
    PaidTokens,
    ReplayReport,
    RunMeasurement,
    list_missed_references,
    report_to_json,
    sum_steps,
)
from afresh.replay.run import RecordedRun, RecordedStep

RUN = RecordedRun("r", "agent", "model", "task", path="a.jsonl")
NAME = NeededReference("name", "load_all", held=False, windowed=True, seen=1, part="observation", age=2)
LINE = NeededReference("line", "return header.strip()", held=False, windowed=False, seen=2, part="action", age=1)
HELD = replace(NAME, text="read_one", held=True)


def moment(number: int, *needs: NeededReference) -> StepMeasurement:
    return StepMeasurement(number, RecordedStep("", "bash", "", "", tokens=9), "", 100, 40, 50, needs)


def report(*moments: StepMeasurement, **fields: object) -> ReplayReport:
    return ReplayReport(4000, 12_000, (RunMeasurement(RUN, moments, sum_steps(moments), **fields),))  # pyright: ignore[reportArgumentType]


def test_losses_come_with_the_most_missing_first_and_name_a_name_rather_than_a_line():
    found = list_missed_references(report(moment(3, HELD, NAME), moment(4, LINE, NAME, HELD), moment(5, HELD)))
    assert [(loss.step, loss.need.text, loss.others) for loss in found] == [(4, "load_all", 1), (3, "load_all", 0)]
    assert found[0].words == "last seen 2 steps before, in an output, and 1 more"
    assert list_missed_references(report(moment(4, LINE)))[0].words == "last seen 1 step before, in an action"


def test_json_holds_every_step_and_need():
    made = report_to_json(report(moment(1), moment(2, NAME, HELD), bill=InputCost(3.0, 1.0, 0.5, 0.4), paid=PaidTokens(80, 60)))
    assert made["money"] == {"theirs": 3.0, "theirs_cached": 1.0, "ours": 0.5, "ours_cached": 0.4}
    assert made["total"]["names"] == {"needed": 2, "held": 1, "windowed": 2, "share": 0.5, "window_share": 1.0}
    assert made["paid"] == made["runs"][0]["paid"] == {"theirs": 80, "ours": 60, "saving": 0.25}
    steps = made["runs"][0]["steps"]
    assert steps[1] == {
        "step": 2, "tool": "bash", "theirs": 100, "ours": 40, "same": 0, "window": 50, "reported": 9, "call": True, "fits": True,
        "needs": [
            {"kind": "name", "text": "load_all", "held": False, "windowed": True, "seen": 1, "part": "observation", "age": 2},
            {"kind": "name", "text": "read_one", "held": True, "windowed": True, "seen": 1, "part": "observation", "age": 2},
        ],
    }  # fmt: skip
    assert json.loads(json.dumps(made)) == made


def test_runs_without_a_price_do_not_count_as_free():
    priced = RunMeasurement(RUN, (), sum_steps(()), bill=InputCost(1.0, 1.0, 1.0))
    assert ReplayReport(4000, 12_000, (priced, RunMeasurement(RUN, (), sum_steps(())))).bill == InputCost(1.0, 1.0, 1.0)
    assert ReplayReport(4000, 12_000, (RunMeasurement(RUN, (), sum_steps(())),)).bill is None
