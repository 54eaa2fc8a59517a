"""What journals say about prompts: what was drawn on, what was asked for again, and which steps were wasted."""

from pathlib import Path

import pytest
from synthetic_month import BEGIN, DAY, LESSON, Planted, add_month, make_month

from afresh.core.context_policy import DEFAULT_CONTEXT_POLICY
from afresh.evolve.find_proposals import find_proposals
from afresh.evolve.task_use import collect_task_use, find_week
from afresh.evolve.use_report import UseReport, add_up_use

SOUND = {"unused_section": False, "reread_output": False, "stale_lesson": False, "idle_tool": False}
INEFFICIENCIES = {
    "unused_section": ("cap", "coverage"),
    "reread_output": ("digest", "run"),
    "stale_lesson": ("retire", LESSON),
    "idle_tool": ("shorten", "delegate"),
}


def read_month(folder: Path, **planted) -> UseReport:
    storage = make_month(folder, Planted(**planted))
    return read_storage(storage)


def read_storage(storage) -> UseReport:
    names = [ticket.task for ticket in storage.queue.tickets()]
    found = [collect_task_use(storage.journal.journal(name), storage.journal.read) for name in names]
    storage.close()
    return add_up_use([one for one in found if one])


def test_sections_are_told_apart_by_what_replies_draw_on(tmp_path: Path):
    report = read_month(tmp_path)
    shares = {one.name: one.share for one in report.sections}
    assert shares["coverage"] == 0 and shares["files"] == 1
    assert [one.name for one in report.unused] == ["coverage"]
    assert report.tasks == 24 and report.calls == 24 * 4 and report.tokens == 24 * 4 * 900


def test_the_trend_has_a_row_for_each_week_of_the_month(tmp_path: Path):
    weeks = read_month(tmp_path).weeks
    assert len(weeks) in (5, 6) and sum(week.tasks for week in weeks) == 24
    assert all(week.drawn == pytest.approx(0.5) and week.verified == week.tasks for week in weeks)


def test_the_trend_says_how_much_less_a_verified_task_takes_than_in_the_week_before(tmp_path: Path):
    storage = make_month(tmp_path, Planted(tasks=1, steps=4))
    add_month(storage, Planted(tasks=1, steps=4, failed=1, begin=BEGIN + 7 * DAY), first=1)
    add_month(storage, Planted(tasks=1, steps=3, begin=BEGIN + 14 * DAY), first=2)
    weeks = read_storage(storage).weeks
    assert [week.tokens_per_verified for week in weeks] == [3_600, 0, 2_700]
    assert [week.saved for week in weeks] == [None, None, 0.25], "a week without a verified task is left out"


def test_an_output_that_is_read_again_counts_for_the_tool_that_printed_it(tmp_path: Path):
    (run,) = [one for one in read_month(tmp_path).missing if one.tool == "run"]
    assert run.recalled == run.times == 24 * 4


def test_an_undone_step_is_wasted(tmp_path: Path):
    assert dict(read_month(tmp_path / "a", undone=True).wasted)["undone"] == 24 * 4
    assert "undone" not in dict(read_month(tmp_path / "b").wasted)


def test_a_lesson_that_was_shown_and_not_used_is_listed(tmp_path: Path):
    (lesson,) = read_month(tmp_path).lessons
    assert (lesson.id, lesson.shown, lesson.used) == (LESSON, 24, 0)


@pytest.mark.parametrize("planted", INEFFICIENCIES)
def test_each_planted_inefficiency_is_found_and_proposed_and_its_sound_twin_is_not(planted: str, tmp_path: Path):
    kind, subject = INEFFICIENCIES[planted]

    def find(**month: bool) -> list[str]:
        some = find_proposals(read_month(tmp_path / str(month[planted]), **month), DEFAULT_CONTEXT_POLICY)
        return [one.subject or one.changes[0].field for one in some if one.kind == kind]

    assert any(subject in one for one in find(**{**SOUND, planted: True}))
    assert not any(subject in one for one in find(**SOUND))


def test_a_sound_month_has_no_proposal(tmp_path: Path):
    assert find_proposals(read_month(tmp_path, **SOUND), DEFAULT_CONTEXT_POLICY) == []


def test_two_tasks_are_too_few_for_a_proposal(tmp_path: Path):
    assert find_proposals(read_month(tmp_path, tasks=2, steps=40), DEFAULT_CONTEXT_POLICY) == []


def test_a_task_without_an_answered_call_is_read_like_any_other(tmp_path: Path):
    storage = make_month(tmp_path, Planted(tasks=1, steps=0))
    found = collect_task_use(storage.journal.journal("t000"), storage.journal.read)
    storage.close()
    assert found and found.calls == ()


def test_weeks_are_those_of_the_calendar():
    assert find_week(1_767_225_600.0) == "2026-W01"
