"""Two processes and one task: the second is refused, the first goes on and ends well. A dead one's task is taken over."""

import json
import signal
import subprocess
import time
from pathlib import Path

import pytest
from person import COMPLETE, MEND, Person, Step
from survived import differing

from afresh.app.project import open_project
from afresh.core.reducer import fold_entries

LONGEST = 900


@pytest.fixture(autouse=True)
def confined(requires_sandbox) -> None:
    requires_sandbox()


def request(box: Path, number: int, process: subprocess.Popen[str]) -> Path:
    """Wait until the worker asks for its n-th reply: it holds the task by then, and goes no further by itself."""
    for _ in range(LONGEST * 20):
        if found := list(box.glob(f"{number:04d}-*.request.md")):
            return found[0]
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    raise AssertionError("it has not asked")


def reply(asked: Path, *actions: Step) -> None:
    answer = {"thought": "", "actions": [{"tool": tool, "args": args} for tool, args in actions]}
    part = asked.with_name("part")
    part.write_text(json.dumps(answer))
    part.rename(asked.with_name(asked.name.replace(".request.md", ".reply.json")))


def ended(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    out, err = process.communicate(timeout=LONGEST)
    return process.returncode, out, err


@pytest.mark.parametrize("first", ["run", *(pytest.param(one, marks=pytest.mark.journey) for one in ("resume", "work"))])
def test_the_second_worker_is_refused_and_the_first_ends_well(person: Person, first: str) -> None:
    box = person.folder / "box"
    model = ("--model", f"mailbox:{box}")
    order = ("double is wrong", "--type", "fix_bug", "--check", person.check)
    started = order if first == "run" else (person.adds(),) if first == "resume" else ("--until-empty",)
    if first == "work":
        person.adds()
    before, other = person.belongings(), ("--model", person.script())
    worker = person.starts(first, *started, *model, "--json")
    try:
        asked = request(box, 1, worker)
        (ticket,) = person.types("status", "--json").json["tasks"]
        assert ticket["status"] == "running" and ticket["owner"]
        for refused in (person.types("resume", *other), person.types("resume", ticket["task"], *other)):
            assert (
                refused.code == 1
                and f"is being worked on by process {ticket['owner'].split(':')[1]} on this machine" in refused.err
            )
            assert "nothing was changed" in refused.err and "wait for it" in refused.err
        assert ended(person.starts("resume", ticket["task"], *other, "--json"))[0] == 1, "from another process, too"
        assert person.types("work", *other).out == "no tasks ready\n"
        undone = person.types("undo", ticket["task"])
        assert undone.code == 1 and "stop that run first" in undone.err
        assert person.types("apply", ticket["task"]).code == 1
        reply(asked, MEND)
        reply(request(box, 2, worker), COMPLETE)
        code, out, err = ended(worker)
    finally:
        worker.kill()
    assert code == 0 and json.loads(out), err
    shown = person.shown()
    assert (shown["status"], shown["step"], shown["calls"]) == ("done", 2, 2)
    assert len(list(box.glob("*.request.json"))) == 2, "nobody else has asked for anything"
    assert person.types("context", "verify").code == 0 and person.belongings() == before


def test_a_dead_workers_task_is_taken_over_at_once_with_what_it_had_bought(person: Person) -> None:
    box = person.folder / "box"
    task = person.adds("double is wrong", "--model", f"mailbox:{box}")
    worker = person.starts("resume", task, "--quiet")
    reply(request(box, 1, worker), MEND)
    request(box, 2, worker)
    worker.send_signal(signal.SIGKILL)
    ended(worker)
    assert "interrupted" in person.types("status").words
    store = open_project(person.repo).store
    assert differing(store.load(task), fold_entries(None, store.journal(task))) == []
    heir = person.starts("work", "--json")
    reply(request(box, 2, heir), COMPLETE)
    code, out, err = ended(heir)
    assert code == 0 and json.loads(out)[0]["status"] == "done", err
    assert person.shown()["calls"] == 2 and len(list(box.glob("*.request.json"))) == 2


@pytest.mark.journey
def test_an_interrupt_ends_the_run_and_keeps_the_task(person: Person) -> None:
    box = person.folder / "box"
    task = person.adds("double is wrong", "--model", f"mailbox:{box}")
    worker = person.starts("resume", task)
    request(box, 1, worker)
    worker.send_signal(signal.SIGINT)
    code, _, err = ended(worker)
    assert code == 130 and "interrupted" in err and "afresh resume" in err and "Traceback" not in err
    (ticket,) = person.types("status", "--json").json["tasks"]
    assert not ticket["ready"] and not ticket["owner"], "it has let go of the task, and no worker takes it up"


@pytest.mark.journey
def test_a_worker_whose_task_was_taken_over_asks_for_nothing_more(person: Person) -> None:
    box = person.folder / "box"
    task = person.adds("double is wrong", "--model", f"mailbox:{box}")
    worker = person.starts("resume", task, "--quiet")
    asked = request(box, 1, worker)
    queue = open_project(person.repo).queue
    (ticket,) = queue.tickets()
    queue.release(ticket.owner, task)
    assert queue.claim("elsewhere:1:1", task) == task
    reply(asked, MEND)
    code, _, err = ended(worker)
    assert code == 1 and "another worker has taken it over" in err and "Traceback" not in err
    assert len(list(box.glob("*.request.md"))) == 1 and person.shown()["calls"] == 1, "the reply that was paid is kept"


def test_a_worker_that_is_told_to_stop_ends_its_run_after_the_reply_it_waits_for(person: Person) -> None:
    box = person.folder / "box"
    task = person.adds("double is wrong", "--model", f"mailbox:{box}")
    worker = person.starts("resume", task, "--quiet")
    asked = request(box, 1, worker)
    worker.send_signal(signal.SIGTERM)
    reply(asked, MEND)
    code, _, err = ended(worker)
    assert code == 130 and "stopped by SIGTERM" in err and "Traceback" not in err
    (ticket,) = person.types("status", "--json").json["tasks"]
    assert ticket["ready"] and not ticket["owner"], "it has let go of the task"
    assert person.shown()["calls"] == 1 and len(list(box.glob("*.request.md"))) == 1
