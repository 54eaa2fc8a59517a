"""Pools of workers as a test sees them: what they ask and say, who holds which task; and a model that keeps them waiting."""

import json
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from queue import SimpleQueue
from threading import Event, Timer

import pytest
from person import Person, Step

from afresh.app.project import open_project
from afresh.core import event as happened
from afresh.core.action import Action
from afresh.core.reply import Reply
from afresh.core.usage import Usage
from afresh.storage.renew_lease import is_worker_dead
from support.model_server import ModelServer, ReceivedRequest
from support.provider_faults import ServerAnswer
from support.wire_formats import ScriptedTurn

LONGEST = 900
"""Seconds: for a machine that does much else meanwhile."""


@pytest.fixture(autouse=True)
def heeded(requires_sandbox) -> Iterator[None]:
    """A process that is started in the background or by nohup inherits ignored signals, and the pool would ignore them, too."""
    requires_sandbox()
    before = [(one, signal.signal(one, signal.SIG_DFL)) for one in (signal.SIGHUP, signal.SIGINT)]
    signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    for one, handler in before:
        signal.signal(one, handler)


class HeldCall:
    def __init__(self) -> None:
        self.given, self._actions = Event(), tuple[Action, ...]()

    def answer(self, *actions: Step) -> None:
        self._actions = tuple(Action(tool, dict(arguments)) for tool, arguments in actions)
        self.given.set()

    def wait(self) -> ServerAnswer:
        self.given.wait()
        return ServerAnswer(ScriptedTurn(Reply("", self._actions, Usage(900, 40))))


class HeldServer(ModelServer):
    """A provider whose replies come when the test gives them."""

    def __init__(self) -> None:
        super().__init__(())
        self.asked = SimpleQueue[HeldCall]()

    def _played(self, received: ReceivedRequest) -> ServerAnswer:
        call = HeldCall()
        self.asked.put(call)
        return call.wait()

    def next_call(self) -> HeldCall:
        return self.asked.get(timeout=LONGEST)


def wait_for_line(process: subprocess.Popen[str], words: str) -> None:
    assert process.stderr
    late = Timer(LONGEST, process.kill)
    late.start()
    try:
        for line in process.stderr:
            if words in line:
                return
    finally:
        late.cancel()
    raise AssertionError(f"it ended and did not say {words!r}")


def requests(box: Path, count: int, process: subprocess.Popen[str]) -> list[Path]:
    """Wait until this many replies are asked for that have not come."""
    for _ in range(LONGEST * 20):
        found = [one for one in box.rglob("*.request.md") if not find_reply(one).exists()]
        if len(found) >= count:
            return sorted(found)
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    raise AssertionError("they have not asked")


def find_reply(asked: Path) -> Path:
    return asked.with_name(asked.name.replace(".request.md", ".reply.json"))


def reply(asked: Path, *actions: Step) -> None:
    answer = {"thought": "", "actions": [{"tool": tool, "args": args} for tool, args in actions]}
    part = asked.with_name(f"part-{asked.name}")
    part.write_text(json.dumps(answer))
    part.rename(find_reply(asked))


def ended(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    out, err = process.communicate(timeout=LONGEST)
    assert "Traceback" not in err, err
    return process.returncode, out, err


def add_tasks(person: Person, count: int) -> list[str]:
    return [
        person.adds(f"double is wrong {number}", "--model", f"mailbox:{person.folder / 'box' / str(number)}")
        for number in range(count)
    ]


def count_claims(person: Person, task: str) -> int:
    store = open_project(person.repo).store
    return sum(isinstance(entry.event, happened.TaskClaimed) for entry in store.journal(task))


def owners(person: Person) -> dict[str, str]:
    return {ticket["task"]: ticket["owner"] for ticket in person.types("status", "--json").json["tasks"]}


def processes(person: Person) -> dict[str, int]:
    """The process of each task that is at work."""
    return {task: int(owner.split(":")[1].split(".")[0]) for task, owner in owners(person).items() if owner}


def wait_until_dead(workers: list[str]) -> None:
    deadline = time.monotonic() + LONGEST
    while not all(map(is_worker_dead, workers)):
        assert time.monotonic() < deadline
        time.sleep(0.05)
