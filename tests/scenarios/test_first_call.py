"""The first call goes out at once and the checks run beside it. Both are recorded in one order, and either may be stopped."""

import signal
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from subprocess import Popen

import pytest
from at_work import LONGEST, reply, requests
from person import COMPLETE, MEND, Person, Step

from afresh.app.project import open_project
from afresh.core.event import BaselineMeasured, CallRequested, Event, ReplyReceived, StepFinished

pytestmark = pytest.mark.reported

READ: Step = ("read", {"path": "calc.py"})
WATCHED = (BaselineMeasured, CallRequested, ReplyReceived, StepFinished)


@pytest.fixture
def slow(person: Person) -> str:
    """A check that says that it runs, by a file, and ends when it is told to. Its processes can be told from all others."""
    return f"touch running; : {person.folder}; while [ ! -e go ]; do sleep 0.05; done; grep -q 'x [*] 2' calc.py"


def wait_until(happened: Callable[[], object]) -> None:
    late = time.monotonic() + LONGEST
    while not happened():
        assert time.monotonic() < late
        time.sleep(0.02)


def find_running(person: Person) -> list[Path]:
    return list(person.trees.glob("*/running"))


def let_check_end(person: Person) -> None:
    wait_until(lambda: find_running(person))
    (find_running(person)[0].parent / "go").touch()


def list_processes(person: Person) -> list[str]:
    """Of the check: whatever has its words in its command line."""
    found = list[str]()
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            found += [process.parent.name] if f": {person.folder};".encode() in process.read_bytes() else []
    return found


def list_order(person: Person) -> list[type[Event]]:
    project = open_project(person.repo)
    try:
        (ticket,) = project.queue.tickets()
        return [type(entry.event) for entry in project.store.journal(ticket.task) if isinstance(entry.event, WATCHED)]
    finally:
        project.storage.close()


def start(person: Person, check: str) -> Popen[str]:
    model = f"mailbox:{person.folder / 'box'}"
    order = ("--check", check, "--set", "baseline=once", "--no-sandbox", "--model", model)
    return person.starts("run", "double is wrong", *order)


def test_the_first_prompt_does_not_wait_for_the_checks_and_the_second_shows_their_results(person: Person, slow: str) -> None:
    process = start(person, slow)
    (first,) = requests(person.folder / "box", 1, process)
    wait_until(lambda: find_running(person))
    assert "The checks are running" in first.read_text() and "Before the task" not in first.read_text()
    reply(first, READ)
    let_check_end(person)
    (second,) = requests(person.folder / "box", 1, process)
    assert "Before the task: " in second.read_text() and "The checks are running" not in second.read_text()
    step = [CallRequested, ReplyReceived, StepFinished]
    assert list_order(person) == [*step[:2], BaselineMeasured, *step[2:]]
    process.kill()
    process.communicate(timeout=LONGEST)
    assert person.types("context", "verify").code == 0


@pytest.mark.parametrize(
    "replied",
    [pytest.param(False, id="while both run"), pytest.param(True, id="while the reply waits", marks=pytest.mark.journey)],
)
@pytest.mark.parametrize(
    "number",
    [pytest.param(signal.SIGINT, id="Ctrl-C", marks=pytest.mark.journey), pytest.param(signal.SIGKILL, id="killed")],
)
def test_a_run_that_is_stopped_beside_its_checks_leaves_none_and_pays_no_reply_twice(
    person: Person, slow: str, number: signal.Signals, replied: bool
) -> None:
    process = start(person, slow)
    (asked,) = requests(person.folder / "box", 1, process)
    wait_until(lambda: find_running(person))
    if replied:
        reply(asked, READ)
        wait_until(lambda: ReplyReceived in list_order(person))
    process.send_signal(number)
    process.communicate(timeout=LONGEST)
    wait_until(lambda: not list_processes(person))
    assert BaselineMeasured not in list_order(person)
    if number is signal.SIGINT:
        assert "no tasks ready" in person.types("work").words, "its person has stopped it"
        assert [row["state"] for row in person.types("status", "--json").json["tasks"]] == ["interrupted"]
    for left in find_running(person):
        left.unlink()
    again = person.starts("resume", "--no-sandbox")
    if not replied:
        (asked,) = requests(person.folder / "box", 1, again)
        reply(asked, READ)
    let_check_end(person)
    requests(person.folder / "box", 1, again)
    assert list_order(person).count(ReplyReceived) == 1 and BaselineMeasured in list_order(person)
    again.kill()
    again.communicate(timeout=LONGEST)


def test_the_first_prompt_of_a_bug_shows_what_fails(person: Person) -> None:
    assert person.runs(person.script([MEND, COMPLETE]), "--no-sandbox").code == 0
    assert list_order(person) == [BaselineMeasured, CallRequested, ReplyReceived, StepFinished]
    assert "Before the task: " in person.types("context", "show", "--step", "1").words
