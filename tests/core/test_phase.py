"""Phases follow from the state alone, and the steps begun in each are counted."""

from dataclasses import replace

import pytest

from afresh.core import event as happened
from afresh.core.report_path import choose_report_path
from afresh.core.state import State
from afresh.core.states.strategy_state import PlanItem
from afresh.core.states.supervision_state import PersonSpoke, TurnBegan
from afresh.core.states.verification_state import VerificationState
from afresh.core.states.workspace_state import WorkspaceState
from afresh.core.task import Task, TaskStatus
from afresh.core.verdict import Baseline, CheckRun, Ruling, Verdict
from support.sample_journals import make_call_events, make_entries
from support.states import replace_in_parts

GREEN, RED = CheckRun("pytest", 0, passed=3), CheckRun("pytest", 1, passed=2, failed=1)
CODE = State(
    task=Task(id="t", goal="g"),
    workspace=WorkspaceState(first_snapshot="s"),
    verification=VerificationState(baseline=Baseline((GREEN,))),
)
CHANGED = replace_in_parts(CODE, changed=("a.py",))
REVIEW = replace_in_parts(CODE, task=Task(id="t", goal="g", type="code_review", report="REVIEW.md"), baseline=Baseline())
KEPT, REFUSED = Verdict(Ruling.PASS, "", (GREEN,)), Verdict(Ruling.FAIL, "", (RED,), final=True)
DONE, OPEN = PlanItem("a", True), PlanItem("b")


@pytest.mark.parametrize(
    ("state", "phase"),
    [
        (State(task=CODE.task), "prepare"),
        (CODE, "understand"),
        (replace_in_parts(CODE, verdict=REFUSED), "understand"),
        (CHANGED, "change"),
        (replace_in_parts(CHANGED, verdict=KEPT), "change"),
        (replace_in_parts(CHANGED, verdict=KEPT, plan=(DONE, OPEN)), "change"),
        (replace_in_parts(CHANGED, verdict=KEPT, plan=(DONE,)), "verify"),
        (replace_in_parts(CHANGED, verdict=KEPT, baseline=Baseline((RED,))), "verify"),
        (replace_in_parts(CHANGED, verdict=replace(KEPT, runs=(RED,)), baseline=Baseline((RED,))), "change"),
        (replace_in_parts(CHANGED, verdict=replace(KEPT, runs=()), plan=(DONE,)), "change"),
        (replace_in_parts(CHANGED, verdict=replace(KEPT, measure=2), baseline=Baseline((GREEN,), measure=3)), "change"),
        (replace_in_parts(CHANGED, verdict=KEPT, baseline=Baseline((GREEN,), measure=3)), "verify"),
        (replace_in_parts(CHANGED, verdict=REFUSED), "verify"),
        (replace_in_parts(CHANGED, verdict=REFUSED, verdict_step=4, turn=2, turn_step=4), "change"),
        (replace_in_parts(CHANGED, verdict=REFUSED, verdict_step=5, turn=2, turn_step=4), "verify"),
        (replace_in_parts(CHANGED, verdict=REFUSED, status=TaskStatus.FAILED), "over"),
        (REVIEW, "understand"),
        (replace_in_parts(REVIEW, changed=("REVIEW.md",)), "report"),
        (replace_in_parts(REVIEW, changed=("REVIEW.md",), verdict=REFUSED), "report"),
    ],
)
def test_the_phase_follows_from_the_state(state: State, phase: str):
    assert state.phase == phase


def test_steps_are_counted_for_each_phase_and_a_persons_word_starts_them_anew():
    begun = [
        happened.TaskCreated(CODE.task),
        happened.WorkspaceOpened("base", "b", "s"),
        happened.BaselineMeasured(Baseline((GREEN,))),
    ]
    _, state = make_entries(None, [*begun, *make_call_events(1), *make_call_events(2)])
    assert (state.work.phase_steps, state.phase_step) == ((("understand", 2),), 3)
    _, state = make_entries(state, [happened.ChangeKeptOrReverted(2, True, "s2", ("a.py",)), *make_call_events(3)])
    assert (dict(state.work.phase_steps), state.phase_step) == ({"understand": 2, "change": 1}, 2)
    _, state = make_entries(state, [happened.ChangeKeptOrReverted(3, True, "s"), *make_call_events(4)])
    assert dict(state.work.phase_steps) == {"understand": 3, "change": 1}, "whoever comes back to a phase goes on counting"
    _, state = make_entries(state, [happened.QuestionAsked("?"), happened.QuestionAnswered("go on")])
    assert (state.work.phase_steps, state.phase_step) == ((), 1)


PRESENT = {"README.md", "docs/api.md"}


@pytest.mark.parametrize(
    ("family", "goal", "where"),
    [
        ("fix_bug", "Mend NOTES.md", ""),
        ("", "anything", ""),
        ("code_review", "Review src/parcel", "REVIEW.md"),
        ("code_review", "Review README.md and the changes to docs/api.md", "REVIEW.md"),
        ("code_review", "Review src/parcel, write it to notes/first.md.", "notes/first.md"),
        ("code_review", "Review src/parcel and put your findings into `docs/api.md`", "docs/api.md"),
        ("code_review", "Compare README.md with the code: AUDIT.md", "AUDIT.md"),
        ("discovery", "How does pricing work?", "DISCOVERY.md"),
        ("discovery", "Why does ../other/plan.md or /etc/motd.txt or ~/x.md matter?", "DISCOVERY.md"),
        ("spec_design", "Design a cache for the label printer", "docs/design-a-cache-for-the-label-printer.md"),
        ("spec_design", "Design a cache, in docs/cache.rst", "docs/cache.rst"),
        ("spec_design", "¿?", "docs/spec.md"),
    ],
)
def test_a_report_goes_where_the_goal_says_or_where_such_reports_go(family: str, goal: str, where: str):
    assert choose_report_path(family, goal, PRESENT.__contains__) == where


def test_a_turn_of_a_conversation_reopens_a_task_that_is_over():
    begun = [happened.TaskCreated(CODE.task), *make_call_events(1), happened.PlanSet((DONE,))]
    _, state = make_entries(None, [*begun, happened.TaskEnded(TaskStatus.DONE, "verified", "c1")])
    _, state = make_entries(state, [TurnBegan(), PersonSpoke("and  now?")])
    assert (state.status, state.dialogue.turn, state.dialogue.turn_step) == (TaskStatus.READY, 1, state.work.step)
    assert (state.dialogue.words, state.work.plan, state.work.limit) == (
        ("and  now?",),
        (),
        state.work.step + CODE.task.max_steps,
    )
