"""Beside the work at a real terminal: what is asked, what can be typed, what Ctrl-C does; the terminal is as it was after it."""

import time
from pathlib import Path

import pytest
from person import CHECK, COMPLETE, MEND, Person, Step
from terminal import CTRL_C, CTRL_D, PATIENCE, Terminal

from afresh.app.project import open_project
from afresh.core.event import QuestionAsked
from afresh.core.state import State
from afresh.core.states.supervision_state import StepsUndone

pytestmark = [pytest.mark.journey, pytest.mark.reported]

SHIFT: Step = ("edit", {"path": "calc.py", "old": "x + 2", "new": "x << 1"})
READ: Step = ("read", {"path": "calc.py"})
PLAN: Step = ("plan", {"items": ["shift it", "complete"]})
ASK: Step = ("ask", {"question": "Multiply or shift?", "options": ["multiply: plain", "shift: fast"]})


def run(person: Person, model: str, mode: str, **size: int) -> Terminal:
    check = ("--type", "fix_bug", "--check", CHECK)
    return Terminal(person.repo, "run", "double is wrong", *check, "--model", model, "--mode", mode, "--no-sandbox", **size)


def state_of(person: Person) -> State:
    project = open_project(person.repo)
    (ticket,) = project.queue.tickets()
    state = project.store.load(ticket.task)
    project.storage.close()
    return state


def happened(person: Person, kind: type) -> int:
    project = open_project(person.repo)
    (ticket,) = project.queue.tickets()
    found = sum(isinstance(entry.event, kind) for entry in project.store.journal(ticket.task))
    project.storage.close()
    return found


def test_supervised_shows_the_change_before_it_is_made_and_nothing_but_an_answer_lets_it_go_on(person: Person) -> None:
    with run(person, person.script([READ, PLAN], [SHIFT], [MEND], [COMPLETE]), "supervised") as at:
        seen = at.sees("About to make the first change (calc.py). Go ahead?")
        assert "before the first change: 1 passed, 1 failed" in seen and "1 · read calc.py, made a plan" in seen
        seen = at.sees("Enter: approve · text: reject this and tell the agent why")
        assert "[ ] shift it" in seen and "- x + 2" in seen and "+ x << 1" in seen and "nothing yet" in seen
        at.types("/undo")
        at.sees("no kept change is left to undo; /undo 1 undoes the last step")
        at.types("/undno")
        at.sees("no such command: /undno; commands: /new, /undo, /stop, /diff, /help")
        at.types("multiply, don't shift")
        at.sees("✗ tried to edit calc.py → not done")
        assert "+ x * 2" in at.sees("Enter: approve")
        at.types("")
        at.sees("About to verify the result. Go ahead?")
        at.sees("Enter: approve · text: message to the agent · /new")
        at.types("/diff")
        at.sees("+    return x * 2")
        at.types("")
        assert "PASS" in at.sees("Next") and at.ends() == 0
    state = state_of(person)
    assert (state.status.value, state.workspace.kept, state.dialogue.words) == ("done", 1, ("multiply, don't shift",))
    assert happened(person, QuestionAsked) == 3, "also before the change that came in place of the first"


@pytest.mark.daily
def test_interactive_asks_answers_redirects_and_takes_back(person: Person) -> None:
    with run(person, person.script([ASK], [SHIFT], [MEND], [COMPLETE]), "interactive") as at:
        at.sees("before the first step · phase understand")
        at.sees("Enter: next step · N: run N steps")
        at.types("")
        at.sees("1 · asked you: Multiply or shift?")
        at.sees("Multiply or shift? 1 multiply plain 2 shift fast")
        assert "Enter:" not in at.sees("N: choose option N"), "what a model asks wants an answer"
        at.types("2")
        at.sees("answered: shift: fast")
        at.sees("after step 2 · phase verify · 1 file changed · 2 passed")
        at.types("/diff")
        at.sees("+    return x << 1")
        at.types("/undo no tricks")
        at.sees("undone: all from step 2 on")
        at.sees("after step 2 · phase understand · 0 files changed")
        at.types("/new multiply")
        at.sees("new direction: multiply")
        at.sees("after step 3 · phase verify")
        at.types("mind the docs")
        at.sees("said: mind the docs")
        assert "undone by a person: no tricks" in at.sees("Next") and at.ends() == 0
    state = state_of(person)
    assert (state.status.value, state.workspace.kept, state.workspace.reverted, happened(person, StepsUndone)) == (
        "done",
        1,
        1,
        1,
    )
    assert [one.text for one in state.memory.decisions if one.by != "model"][-1] == "multiply"


@pytest.mark.parametrize(("keys", "step"), [("/stop\n", 1), (CTRL_C, 1), (CTRL_D, 0)], ids=["stop", "ctrl-c", "ctrl-d"])
def test_whoever_stops_at_the_prompt_finds_the_task_waiting(person: Person, keys: str, step: int) -> None:
    with run(person, person.script([READ], [MEND], [COMPLETE]), "interactive") as at:
        at.sees("> ")
        if step:
            at.types("")
            at.sees("after step 1")
            at.sees("> ")
        at.presses(keys)
        when = f"after step {step}" if step else "before its first step"
        seen = at.sees(f"asks: You stopped the task {when}; it waits in `afresh answer`. Answer to continue")
        assert not any("•" in line and "^C" in line for line in seen.splitlines()), "on a line of its own"
        at.sees("afresh answer")
        assert at.ends() == 3
    assert state_of(person).status.value == "blocked"


def test_ctrl_c_in_a_step_waits_for_its_end_and_a_second_one_does_not(person: Person) -> None:
    slow: Step = ("run", {"command": "touch begun; while [ ! -e go ]; do sleep 0.05; done; rm begun go"})
    with run(person, person.script([slow], [slow], [COMPLETE]), "interactive") as at:
        at.sees("> ")
        at.types("9")
        tree = begun(at, person)
        at.presses(CTRL_C)
        at.sees("pausing after this step; press Ctrl-C again to stop now")
        (tree / "go").touch()
        at.sees("after step 1")
        at.sees("> ")
        at.types("")
        begun(at, person)
        at.presses(CTRL_C)
        at.sees("pausing after this step")
        at.presses(CTRL_C)
        seen = at.sees("continues after the last finished step")
        assert at.ends() == 130
    state = state_of(person)
    assert f"afresh resume {state.task.id.rpartition('-')[2]}" in seen
    assert (state.work.step, state.spending.calls, state.status.value) == (1, 2, "running"), (
        "paid once, and acted on when it goes on"
    )


def begun(at: Terminal, person: Person) -> Path:
    """The task's own tree, once the command is at work in it."""
    until = time.monotonic() + PATIENCE
    while not (found := list(person.trees.glob("*/begun"))):
        assert time.monotonic() < until, at.text
        time.sleep(0.02)
    return found[0].parent


def test_a_question_of_the_model_is_asked_there_and_then_and_the_run_goes_on_with_the_answer(person: Person) -> None:
    with run(person, person.script([ASK], [MEND], [COMPLETE]), "autonomous") as at:
        at.sees("1 multiply plain 2 shift fast")
        at.sees("N: choose option N")
        at.types("1")
        at.sees("answered: multiply: plain")
        assert "PASS" in at.sees("Next") and at.ends() == 0
        assert at.raw.count(b"\a") == 2, "the bell rings for the question and at the end"
    assert state_of(person).status.value == "done"


def test_the_users_command_is_told_of_the_question_and_of_the_end_and_its_failure_harms_nothing(person: Person) -> None:
    told = person.folder / "told"
    order = ("run", "double is wrong", "--type", "fix_bug", "--check", CHECK, "--no-sandbox")
    command = f'echo "$AFRESH_STATUS $1" >> {told}; exit 3'
    model = person.script([ASK], [MEND], [COMPLETE])
    with Terminal(person.repo, *order, "--model", model, "--notify", command) as at:
        at.sees("> ")
        at.types("1")
        at.sees("Next")
        assert at.ends() == 0
    until = time.monotonic() + PATIENCE
    while not told.exists() or len(told.read_text().splitlines()) < 2:
        assert time.monotonic() < until
        time.sleep(0.02)
    asked, done = told.read_text().splitlines()
    assert asked.startswith("blocked ") and asked.endswith("asks: Multiply or shift?")
    assert done.startswith("done ") and ": done: " in done


def test_a_repository_can_not_set_what_is_run_to_notify(person: Person) -> None:
    person.write(".afresh/config.toml", '[hooks]\nnotify = "touch owned"\n')
    seen = person.types("add", "double is wrong")
    assert seen.code != 0 and "hooks" in seen.words and not (person.repo / "owned").exists()
