"""A conversation at a real terminal: one task, a turn per message, nothing lost when it is stopped, undone, applied or left."""

import io
import json
import time
from pathlib import Path

import pytest
from person import MEND, SHELL_CHECK, Person, Step, Told
from terminal import CTRL_C, CTRL_D, PATIENCE, Terminal

from afresh.app.project import open_project
from afresh.core.state import State

pytestmark = pytest.mark.journey

TRIPLE: Step = ("edit", {"path": "calc.py", "old": "", "new": "\n\ndef triple(x):\n    return x * 3\n"})
READ: Step = ("read", {"path": "calc.py"})
ASK: Step = ("ask", {"question": "Multiply or shift?", "options": ["multiply: plain", "shift: fast"]})


def answer(text: str) -> Step:
    return ("complete", {"summary": text})


def chat(person: Person, model: str, *more: str) -> Terminal:
    options = ("--model", model, "--no-sandbox", "--type", "fix_bug", "--check", SHELL_CHECK)
    return Terminal(person.repo, "chat", *more, *options, PAGER="cat")


def states_of(person: Person) -> list[State]:
    project = open_project(person.repo)
    found = [project.store.load(ticket.task) for ticket in project.queue.tickets()]
    project.storage.close()
    return found


@pytest.mark.daily
def test_each_message_is_a_turn_of_one_task(person: Person) -> None:
    script = person.script(
        [MEND], [answer("It multiplies now.")], [answer("It doubles a number.")], [TRIPLE], [answer("Tripled.")]
    )
    with chat(person, script) as at:
        at.sees("> ")
        at.types("double is wrong")
        at.sees("It multiplies now.")
        assert "done: " in at.sees("changed so far: calc.py")
        at.types("what does  double do?")
        at.sees("It doubles a number.")
        at.sees("> ")
        at.types("/diff")
        at.sees("+    return x * 2")
        at.sees("> ")
        at.types("now also triple")
        at.sees("Tripled.")
        at.sees("> ")
        at.types("/cost")
        at.sees("5 calls")
        at.types("/quit")
        assert "afresh apply" in at.sees("merges it.")
        assert at.ends() == 0
    (state,) = states_of(person)
    assert (state.status.value, state.dialogue.turn, state.task.goal) == ("done", 3, "double is wrong")
    assert state.dialogue.words == ("what does  double do?", "now also triple"), "word for word"
    assert "x * 2" in person.git("show", f"afresh/{state.task.id}:calc.py") and "x + 2" in (person.repo / "calc.py").read_text()
    assert person.git("rev-list", "--count", f"HEAD..afresh/{state.task.id}") == "1"
    assert person.types("apply").code == 0 and "triple" in (person.repo / "calc.py").read_text()
    assert person.types("context", "verify", state.task.id).code == 0


@pytest.mark.parametrize("by", [pytest.param("complete", marks=pytest.mark.daily), "words alone"])
def test_a_turn_that_only_answers_runs_no_check_and_leaves_nothing_to_apply(person: Person, by: str) -> None:
    text = "It adds **two**:\n\n- to what it is given\n- as a `list<int>`\n- for __init__ and _f(x)_ too"
    script = person.script([READ], [answer(text)] if by == "complete" else [])
    if by == "words alone":
        path = Path(script.partition(":")[2])
        path.write_text(path.read_text().splitlines()[0] + "\n" + json.dumps({"thought": text, "actions": []}) + "\n")
    with chat(person, script) as at:
        at.types("what does double do?")
        at.sees("It adds two:")
        at.sees("• to what it is given")
        at.sees("• as a list<int>")
        at.sees("• for __init__ and _f(x)_ too")
        at.types("/apply")
        at.sees("has changed nothing")
        at.sees("> ")
        at.presses(CTRL_D)
        assert "afresh apply" not in at.sees("continues it.")
        assert at.ends() == 0
    (state,) = states_of(person)
    assert (state.status.value, state.workspace.changed, state.verification.baseline) == ("unchanged", (), None)
    assert "afresh apply" not in person.types("status").words


def test_a_conversation_that_was_left_is_taken_up_by_no_worker(person: Person) -> None:
    with chat(person, person.script([MEND], [answer("Multiplied.")])) as at:
        at.types("double is wrong")
        at.sees("Multiplied.")
        at.sees("> ")
        at.types("/undo")
        at.sees("Undone.")
        at.types("/quit")
        assert at.ends() == 0
    assert "no tasks ready" in person.types("work").words
    assert f"afresh chat {states_of(person)[0].task.id[-8:]}" in person.types("status").words


def test_without_a_terminal_each_line_is_a_message_and_the_exit_code_tells_of_the_last(
    person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    def pipe(said: str, *replies: list[Step]) -> Told:
        monkeypatch.setattr("sys.stdin", io.StringIO(said))
        return person.types(*("chat", "--no-sandbox", "-t", "fix_bug", "-c", person.check, "-m", person.script(*replies)))

    told = pipe("what does double do?\n", [answer("# It adds\n\n- two")])
    assert (told.code, told.out.strip()) == (0, "# It adds\n\n- two"), "a pipe gets what the model wrote"
    assert pipe("what is double?\ndouble is wrong\n", [answer("A function.")], [ASK]).code == 3
    assert pipe("double is wrong\n").code not in (0, 3)
    assert pipe("").code == 2


def test_undo_apply_and_a_next_message_that_goes_on_from_the_result(person: Person) -> None:
    steps = ([MEND], [TRIPLE], [answer("Both.")], [answer("Only double.")], [TRIPLE], [answer("Tripled.")])
    with chat(person, person.script(*steps)) as at:
        at.types("double and triple")
        at.sees("Both.")
        at.sees("> ")
        at.types("/undo no triple")
        at.sees("Undone. Files still changed: calc.py.")
        at.types("/apply")
        at.sees("is not verified")
        at.types("leave triple away")
        at.sees("Only double.")
        at.sees("> ")
        at.types("/apply")
        at.sees("The next message goes on from here.")
        assert (person.repo / "calc.py").read_text() == "def double(x):\n    return x * 2\n"
        at.types("/model nonsense:x")
        at.sees("no such model")
        second = person.script([TRIPLE], [answer("Tripled.")], name="second")
        at.types(f"/model {second}")
        at.sees("from the next turn on.")
        at.types("now triple")
        at.sees("Tripled.")
        at.types("/quit")
        assert at.ends() == 0
    first, second_state = states_of(person)
    assert (first.status.value, second_state.status.value) == ("applied", "done")
    assert second_state.workspace.start.follows == first.task.id and second_state.dialogue.turn == 1


def test_ctrl_c_stops_the_turn_and_not_the_conversation(person: Person) -> None:
    slow: Step = ("run", {"command": "touch begun; while [ ! -e go ]; do sleep 0.05; done; rm begun go"})
    with chat(person, person.script([slow], [MEND], [answer("Multiplied.")])) as at:
        at.sees("> ")
        at.types("double is wrong")
        until = time.monotonic() + PATIENCE
        while not list(person.trees.glob("*/begun")):
            assert time.monotonic() < until, at.text
            at._more(time.monotonic() + 0.05)
        at.presses(CTRL_C)
        at.sees("Stopped. What was done so far is kept")
        at.sees("> ")
        at.presses_until(CTRL_C, "/quit or Ctrl-D leaves.")
        at.presses_until("/help\n", "Ctrl-C stops a turn")  # a Ctrl-C that was not taken yet would take the line that is typed
        at.types("just multiply")
        at.sees("Multiplied.")
        at.types("/quit")
        assert at.ends() == 0
    (state,) = states_of(person)
    assert (state.status.value, state.dialogue.words, state.spending.calls) == ("done", ("just multiply",), 3)


@pytest.mark.parametrize("how", ["--resume", "task"])
def test_a_conversation_that_was_left_is_continued(person: Person, how: str) -> None:
    script = person.script([MEND], [answer("Multiplied.")], [TRIPLE], [answer("Tripled.")])
    with chat(person, script) as at:
        at.types("double is wrong")
        at.sees("Multiplied.")
        at.sees("> ")
        at.presses(CTRL_D)
        assert at.ends() == 0
    (before,) = states_of(person)
    person.adds()
    with chat(person, script, "--resume" if how == "--resume" else before.task.id[:18]) as at:
        at.sees(f"Continuing {before.task.id}")
        at.sees("Multiplied.")
        at.types("also \\")
        at.types("triple")
        at.sees("Tripled.")
        at.types("/quit")
        assert at.ends() == 0
    after = states_of(person)[0]
    assert (after.dialogue.turn, after.dialogue.words) == (2, ("also \ntriple",))
