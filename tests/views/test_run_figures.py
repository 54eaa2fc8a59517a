"""A context begins with each claim and each compaction; a resume succeeds if the task goes on after it."""

from hypothesis import given
from hypothesis import strategies as st

from afresh.core.event import Event, JournalEntry, MemoryCompacted, StepFinished, TaskClaimed, TaskCreated, TaskEnded
from afresh.core.step_history import Summary
from afresh.core.task import Task, TaskStatus
from afresh.views.run_figures import RunFigures, measure_run

CLAIM, AGAIN, STEP = TaskClaimed("w"), TaskClaimed("another"), StepFinished(1, "kept")
CREATED = TaskCreated(Task(id="t", goal="goal"))
COMPACT, DONE = MemoryCompacted(1, "loop", (), Summary(), 0), TaskEnded(TaskStatus.DONE, "verified")


def journal(*events: Event) -> list[JournalEntry]:
    return [JournalEntry("t", at, float(at), event, "", "") for at, event in enumerate((CREATED, *events))]


def test_a_task_that_ends_in_its_first_run_takes_one_context():
    assert measure_run(journal(CLAIM, STEP, STEP, DONE)) == RunFigures(1, 0, 0, TaskStatus.DONE)


def test_a_compaction_and_a_resume_begin_another_context():
    assert measure_run(journal(CLAIM, STEP, COMPACT, STEP, AGAIN, STEP, DONE)) == RunFigures(3, 1, 1, TaskStatus.DONE)


def test_a_resume_that_is_followed_by_another_without_a_step_has_failed():
    assert measure_run(journal(CLAIM, STEP, AGAIN, CLAIM, STEP)) == RunFigures(3, 2, 1, None)


def test_a_resume_that_is_under_way_is_not_counted_yet():
    assert measure_run(journal(CLAIM, STEP, AGAIN)) == RunFigures(2, 0, 0, None)


def test_who_claims_what_it_holds_resumes_nothing():
    assert measure_run(journal(CLAIM, STEP, CLAIM, STEP)) == RunFigures(1, 0, 0, None)


def test_resumes_and_ends_of_another_week_are_not_counted():
    run = journal(CLAIM, STEP, AGAIN, STEP, DONE)
    assert measure_run(run, since=5.0) == RunFigures(2, 0, 0, TaskStatus.DONE)
    assert measure_run(run, until=5.0) == RunFigures(2, 1, 1, None)


def test_a_resume_counts_in_the_week_in_which_it_is_known_what_came_of_it():
    run = journal(CLAIM, STEP, AGAIN, STEP, DONE)
    assert measure_run(run, until=4.0) == RunFigures(2, 0, 0, None)
    assert measure_run(run, since=4.0) == RunFigures(2, 1, 1, TaskStatus.DONE)


@given(st.lists(st.sampled_from([CLAIM, AGAIN, STEP, COMPACT, DONE]), max_size=30))
def test_figures_are_bounded_by_the_claims(events: list[Event]):
    found = measure_run(journal(*events))
    claims = sum(event in (CLAIM, AGAIN) for event in events)
    assert found.contexts <= claims + sum(event == COMPACT for event in events)
    assert 0 <= found.resumed <= found.resumes <= max(0, claims - 1)
