"""What a prompt says of notes and of what was observed."""

from dataclasses import replace

from afresh.context.sources.memory_sections import build_note_piece, draft_notes, list_error_lines
from afresh.context.sources.verification_status import draft_verification
from afresh.core.fact import MAX_FACTS, Fact, FactKind, bound_facts
from afresh.core.prompt import Tier
from afresh.core.state import State
from afresh.core.states.memory_state import MemoryState
from afresh.core.states.verification_state import VerificationState
from afresh.core.states.work_state import WorkState
from afresh.core.states.workspace_state import WorkspaceState
from afresh.core.task import Task
from afresh.core.verdict import CheckRun, FailedTest, Ruling, Verdict
from afresh.memory.gathered_context import GatheredContext


def observed(subject: str, step: int, text: str = "fails") -> Fact:
    return Fact(FactKind.OBSERVED, subject, text, step=step, block="b" * 32, confidence=1.0)


def told(*facts: Fact, step: int = 20, change: int = 0, failing: str = "") -> list[str]:
    runs = (CheckRun("pytest", 1, failures=(FailedTest(failing),)),)
    state = State(
        task=Task(id="t", goal="g"),
        work=WorkState(step=step),
        memory=MemoryState(facts=facts),
        workspace=WorkspaceState(last_change=change),
        verification=VerificationState(verdict=Verdict(Ruling.FAIL, "no", runs) if failing else None),
    )
    memory = GatheredContext(state)
    return [*[piece.text for piece in draft_notes(memory).pieces], *list_error_lines(memory)[1:]]


def test_what_was_observed_long_before_the_last_change_is_not_shown_and_what_a_note_holds_is():
    old, note = observed("src/a.py is unformatted", 2), Fact(FactKind.NOTE, "cause", "the sum", step=2)
    assert told(old, note, change=5) == ["- cause: the sum"]
    assert len(told(old, note, change=1)) == 2, "nothing has changed since"
    assert "before the last change" in told(observed("src/a.py is unformatted", 14), change=15)[0]


def test_a_failing_test_that_verification_names_is_not_named_a_second_time():
    fact = observed("tests/test_a.py::test_sum", 19)
    assert told(fact) and not told(fact, failing="tests/test_a.py::test_sum")


def test_cases_of_one_test_are_one_line():
    [line] = told(*[observed(f"tests/test_a.py::test_sum[{case}]", 19, f"assert {case} == 2") for case in range(3)])
    assert "test_sum[0] and others: assert 0 == 2" in line


def test_the_newest_errors_that_still_hold_are_never_left_out():
    facts = tuple(observed(f"python job_{number}.py", number, f"ValueError: {number}") for number in range(12, 20))
    memory = GatheredContext(State(task=Task(id="t", goal="g"), work=WorkState(step=20), memory=MemoryState(facts=facts)))
    shown = draft_verification(memory)
    assert shown.tier is Tier.ALWAYS and [f"ValueError: {n}" in shown.pieces[0].text for n in (12, 16, 17, 18, 19)] == [
        False, True, True, True, True,
    ]  # fmt: skip
    assert len(draft_notes(memory).pieces) == 4, "the others are shown while there is room"


def test_an_error_outlasts_notes_in_a_full_memory():
    notes = tuple(Fact(FactKind.NOTE, f"note {number}", "text", step=number) for number in range(MAX_FACTS))
    kept = bound_facts((observed("pytest", 1, "2 failed"), *notes))
    assert len(kept) == MAX_FACTS and kept[0].subject == "pytest" and kept[1].subject == "note 1"


def test_a_recent_note_is_a_need_and_an_old_one_is_not():
    note = Fact(FactKind.NOTE, "todo", "the filters are left", step=5)
    state = State(task=Task(id="t", goal="g"))
    recent, old = (build_note_piece(note, replace(state, work=WorkState(step=step))) for step in (9, 30))
    assert recent.asked and not old.asked
