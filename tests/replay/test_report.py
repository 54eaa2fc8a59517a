"""The report as JSON, and its worst moments."""

import json
from dataclasses import replace

from afresh.replay.measure import Moment, Need
from afresh.replay.money import Bill
from afresh.replay.report import Measured, Report, losses, report_json
from afresh.replay.run import Run, RunStep
from afresh.replay.totals import total

RUN = Run("r", "agent", "model", "task", path="a.jsonl")
NAME = Need("name", "load_all", held=False, windowed=True, seen=1, part="observation", age=2)
LINE = Need("line", "return header.strip()", held=False, windowed=False, seen=2, part="action", age=1)
HELD = replace(NAME, text="read_one", held=True)


def moment(number: int, *needs: Need) -> Moment:
    return Moment(number, RunStep("", "bash", "", "", tokens=9), "", 100, 40, 50, needs)


def report(*moments: Moment, **fields: object) -> Report:
    return Report(4000, (Measured(RUN, moments, total(moments), **fields),))  # pyright: ignore[reportArgumentType]


def test_losses_come_with_the_most_missing_first_and_name_a_name_rather_than_a_line():
    found = losses(report(moment(3, HELD, NAME), moment(4, LINE, NAME, HELD), moment(5, HELD)))
    assert [(loss.step, loss.need.text, loss.others) for loss in found] == [(4, "load_all", 1), (3, "load_all", 0)]
    assert found[0].words == "last seen 2 steps before, in an output, and 1 more"
    assert losses(report(moment(4, LINE)))[0].words == "last seen 1 step before, in an action"


def test_json_holds_every_step_and_need():
    made = report_json(report(moment(1), moment(2, NAME, HELD), bill=Bill(3.0, 1.0, 0.5)))
    assert made["money"] == {"theirs": 3.0, "theirs_cached": 1.0, "ours": 0.5}
    assert made["total"]["names"] == {"needed": 2, "held": 1, "windowed": 2, "share": 0.5, "window_share": 1.0}
    steps = made["runs"][0]["steps"]
    assert steps[1] == {
        "step": 2, "tool": "bash", "theirs": 100, "ours": 40, "window": 50, "reported": 9, "call": True, "fits": True,
        "needs": [
            {"kind": "name", "text": "load_all", "held": False, "windowed": True, "seen": 1, "part": "observation", "age": 2},
            {"kind": "name", "text": "read_one", "held": True, "windowed": True, "seen": 1, "part": "observation", "age": 2},
        ],
    }  # fmt: skip
    assert json.loads(json.dumps(made)) == made


def test_runs_without_a_price_do_not_count_as_free():
    priced = Measured(RUN, (), total(()), bill=Bill(1.0, 1.0, 1.0))
    assert Report(4000, (priced, Measured(RUN, (), total(())))).bill == Bill(1.0, 1.0, 1.0)
    assert Report(4000, (Measured(RUN, (), total(())),)).bill is None
