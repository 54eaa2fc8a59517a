"""Someone at the terminal: what they type, and what it means."""

import io
import signal
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from afresh.app.dialogue import answer_question as attending
from afresh.app.results import task_result
from afresh.cli.interactive import PersonAtTerminal
from afresh.core.state import State
from afresh.core.states.supervision_state import PersonAct, PersonRequest, SupervisionState
from afresh.core.states.verification_state import VerificationState
from afresh.core.states.work_state import WorkState
from afresh.core.states.workspace_state import WorkspaceState
from afresh.core.task import Task, TaskStatus
from afresh.core.verdict import Baseline
from afresh.errors import BadInput
from support.states import replace_in_parts

RUNNING = State(
    task=Task(id="t", goal="g"),
    status=TaskStatus.RUNNING,
    workspace=WorkspaceState(first_snapshot="s"),
    verification=VerificationState(baseline=Baseline()),
    work=WorkState(step=2),
)
PAUSED = replace_in_parts(
    RUNNING, question="About to make the first change. Go ahead?", options=("approve: it continues",), asked_by="harness",
    supervision=SupervisionState("supervised", paused="change"),
)  # fmt: skip
ASKED = replace_in_parts(RUNNING, question="Multiply or shift?", options=("multiply", "shift"), asked_by="model")


def worded(project: Any, state: State, text: str, redirects: bool = False) -> PersonRequest:
    if text == "too long":
        raise BadInput("that does not fit into a prompt", next="use fewer words")
    return PersonRequest(PersonAct.REDIRECT if redirects else PersonAct.SAY, text)


def refuse_undo(project: Any, state: State, steps: int) -> None:
    if steps > 2:
        raise BadInput("there is nothing to undo", next="/undo 1 undoes the last step")


@pytest.fixture
def beside(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(attending, "parse_user_message", worded)
    monkeypatch.setattr(task_result, "refuse_empty_undo", refuse_undo)

    def made(typed: str) -> tuple[PersonAtTerminal, io.StringIO]:
        screen = io.StringIO()
        progress: Any = SimpleNamespace(console=Console(file=screen, width=100), aside=nullcontext)
        return PersonAtTerminal(SimpleNamespace(), progress, io.StringIO(typed)), screen  # pyright: ignore[reportArgumentType]

    return made


@pytest.mark.parametrize(
    ("typed", "state", "word"),
    [
        ("\n", RUNNING, PersonRequest(PersonAct.GO)),
        ("\n", PAUSED, PersonRequest(PersonAct.GO)),
        ("use a table\n", RUNNING, PersonRequest(PersonAct.SAY, "use a table")),
        ("/new start with the tests\n", RUNNING, PersonRequest(PersonAct.REDIRECT, "start with the tests")),
        ("/undo\n", RUNNING, PersonRequest(PersonAct.UNDO)),
        ("/undo 2 it broke the docs\n", RUNNING, PersonRequest(PersonAct.UNDO, "it broke the docs", 2)),
        ("/undo no tricks\n", PAUSED, PersonRequest(PersonAct.UNDO, "no tricks")),
        ("/stop\n", RUNNING, PersonRequest(PersonAct.STOP)),
        ("", RUNNING, None),
        ("2\n", ASKED, PersonRequest(PersonAct.SAY, "2")),
    ],
)
def test_what_is_typed_means(beside: Any, typed: str, state: State, word: PersonRequest | None) -> None:
    assert beside(typed)[0].at_pause(state) == word


def test_a_number_lets_it_go_on_for_so_many_steps_unless_something_is_asked(beside: Any) -> None:
    person, screen = beside("3\n/stop\n/stop\n")
    assert [person.at_pause(RUNNING).act for _ in range(4)] == [PersonAct.GO, PersonAct.GO, PersonAct.GO, PersonAct.STOP]
    assert screen.getvalue().count("after step 2") == 2 and screen.getvalue().count("Enter: next step") == 1
    person, _ = beside("9\nyes\n")
    assert (person.at_pause(RUNNING).act, person.at_pause(ASKED).act) == (PersonAct.GO, PersonAct.SAY)


def test_what_can_not_be_used_is_told_and_asked_again(beside: Any) -> None:
    person, screen = beside("/udno\ntoo long\n/undo 3\n/help\nbetter\n")
    assert person.at_pause(RUNNING) == PersonRequest(PersonAct.SAY, "better")
    said = screen.getvalue()
    assert "no such command: /udno; commands: /new, /undo" in said and "that does not fit into a prompt; use fewer words" in said
    assert "there is nothing to undo; /undo 1 undoes the last step" in said
    assert said.count("Enter: next step") == 2


def test_a_pause_shows_the_question_and_where_things_stand(beside: Any) -> None:
    person, screen = beside("\n")
    person.at_pause(PAUSED)
    assert "About to make the first change" in screen.getvalue() and "nothing yet" in screen.getvalue()


def test_the_first_interrupt_waits_for_the_end_of_the_step_and_the_second_does_not(beside: Any) -> None:
    person, screen = beside("5\n/stop\n")
    person.heeds_interrupts = True
    before = signal.getsignal(signal.SIGINT)
    with person:
        assert person.at_pause(RUNNING).act is PersonAct.GO
        signal.raise_signal(signal.SIGINT)
        assert "pausing after this step" in screen.getvalue()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        assert person.at_pause(RUNNING).act is PersonAct.STOP, "asked before the five steps are over"
    assert signal.getsignal(signal.SIGINT) is before
