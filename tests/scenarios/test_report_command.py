"""`afresh spend --week`: what a week was like, beside the one before."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from person import COMPLETE, MEND, Person

from afresh.app.heartbeat.schedules import add_report_schedule, run_due_schedules
from afresh.app.project import open_project
from afresh.app.spending.period_report import find_week

WEEK = 604_800.0


def test_a_week_with_a_verified_task_is_shown_in_eighty_columns_and_as_json(person: Person, monkeypatch: pytest.MonkeyPatch):
    assert person.runs(person.script([MEND], [COMPLETE])).code == 0
    monkeypatch.setenv("COLUMNS", "80")
    shown = person.types("spend", "--week")
    assert shown.code == 0 and max(map(len, shown.out.splitlines())) <= 80
    assert re.search(r"tasks verified +1 +0", shown.out) and re.search(r"tasks in one context +100% +–", shown.out)
    now = (told := person.types("spend", "--week", "--json").json)["now"]
    assert now["verified"] == 1 and now["calls"] == 2 and now["one_context"] == 1.0 and now["tokens_per_call"] > 0
    assert told["before"]["calls"] == 0 and told["alerts"] == []


def test_a_schedule_announces_the_report_and_adds_no_task(person: Person):
    project = open_project(person.repo)
    add_report_schedule(project, every="1w")
    [fired] = run_due_schedules(project, project.clock.now() + WEEK + 1)
    assert "report" in fired.note and not fired.task and not project.queue.tickets()
    project.storage.close()
    assert "weekly-report" in person.types("schedule", "add", "--report", "--cron", "0 9 * * 1").out
    assert person.types("schedule", "add", "--report").code == 2


@given(st.floats(1e9, 2e9))
def test_a_whole_week_is_monday_to_monday_and_over(now: float):
    before, since, until = find_week(now, whole=True)
    for at in (before, since, until):
        assert time.localtime(at)[3:7] == (0, 0, 0, 0)
    assert before < since < until <= now < until + 8 * 86_400
    rolling = find_week(now)
    assert abs(rolling[2] - now) < 1e-3
