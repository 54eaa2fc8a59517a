"""`afresh show --follow`: a task that another process works on, line by line as `run` shows it."""

from collections.abc import Callable

import pytest
from person import CHECK, COMPLETE, MEND, Person, Step
from terminal import CTRL_C, Terminal

from afresh.app.inspect import watch_task
from afresh.core.event import JournalEntry, JournalHead
from afresh.storage.sql.journal import SqlJournal

pytestmark = pytest.mark.reported

READ: Step = ("read", {"path": "calc.py"})
ASK: Step = ("ask", {"question": "Multiply or shift?", "options": ["multiply", "shift"]})


@pytest.fixture
def meanwhile(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """What others do while it waits, one thing at each wait."""

    def plan(*deeds: Callable[[], object]) -> None:
        left = iter(deeds)
        monkeypatch.setattr(watch_task, "wait_for_commit", lambda: next(left)())

    return plan


def work(person: Person, model: str) -> Callable[[], object]:
    return lambda: person.types("work", "--model", model, "--no-sandbox", "--quiet")


def test_a_task_is_followed_from_waiting_to_its_end_without_reading_its_history(
    person: Person, meanwhile: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    task = person.adds()
    meanwhile(work(person, person.script([READ], [MEND], [COMPLETE])))
    read, get_new = list[int](), SqlJournal.read_new_entries

    def record_new(store: SqlJournal, name: str, after: JournalHead) -> list[JournalEntry]:
        new = get_new(store, name, after)
        read.extend(entry.seq for entry in new)
        return new

    monkeypatch.setattr(SqlJournal, "read_new_entries", record_new)
    seen = person.types("show", "--follow", task)
    assert seen.code == 0 and "\x1b" not in seen.out
    lines = seen.out.splitlines()
    assert lines[:2] == [f"  • {task} waits for a worker", f"  • {task}: double is wrong"]
    shown = [line[:3].strip() for line in lines if line[:3].strip().isdigit()]
    assert shown == ["1", "2", "3"] and "  1 · read calc.py" in seen.out and "unittest -v: 2 passed" in seen.out
    assert lines[-1] == f"  next: afresh apply {task[-8:]}"
    assert read == [*range(2, read[-1] + 1)], "each entry once, and those before it never"


def test_a_task_that_is_over_shows_its_last_steps_and_ends_like_its_run(person: Person) -> None:
    assert person.runs(person.script([READ], [ASK]), "--no-sandbox").code == 3
    seen = person.types("show", "--follow", person.shown()["task"]["id"])
    assert seen.code == 3 and "  1 · read calc.py" in seen.out and "asks: Multiply or shift?" in seen.out
    assert "before the first change: 1 passed, 1 failed" in seen.out and "next: afresh answer" in seen.out


def test_a_task_whose_process_is_gone_is_interrupted(person: Person, meanwhile: Callable[..., None]) -> None:
    task = person.adds()

    def crash() -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("afresh.loop.take_step", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
            work(person, person.script([READ]))()

    meanwhile(crash)
    seen = person.types("show", "--follow", task)
    assert seen.code == 3 and f"no process works on it\n  next: afresh resume {task[-8:]}" in seen.out


@pytest.mark.journey
def test_two_terminals_see_the_same_steps_and_leaving_one_leaves_the_task_alone(person: Person) -> None:
    model, check = person.script([READ], [MEND], [COMPLETE]), ("--type", "fix_bug", "--check", CHECK)
    order = ("run", "double is wrong", *check, "--model", model, "--mode", "interactive", "--no-sandbox")
    with Terminal(person.repo, *order, columns=80) as at_work:
        at_work.sees("before the first step")
        with Terminal(person.repo, "show", "--follow", columns=80) as looking:
            looking.sees("double is wrong")
            at_work.types("")
            looking.sees("before the first change: 1 passed, 1 failed")
            looking.sees("1 · read calc.py")
            at_work.sees("after step 1")
            at_work.types("")
            looking.sees("2 ✓ edited calc.py → kept, 2 passed")
            looking.presses(CTRL_C)
            looking.sees("stopped watching; double-is-wrong")
            assert looking.ends() == 130
        at_work.types("")
        at_work.sees("PASS")
        assert at_work.ends() == 0
