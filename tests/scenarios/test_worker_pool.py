"""`afresh work --workers N`: several tasks at once, each once; workers that are stopped and killed."""

import json
import os
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from threading import Timer

import pytest
from person import COMPLETE, MEND, Person, Step

from afresh.app.project import open_project
from afresh.core import event as happened
from afresh.storage.renew_lease import is_worker_dead

LONGEST = 300
"""Seconds: for a machine that does much else meanwhile."""
COMMAND_WITH_CLOCK = """
import sys, time
from pathlib import Path
from afresh.app.worker_pool import WorkerPool
from afresh.cli.main import main

end = Path(sys.argv.pop(1))
WorkerPool.now = staticmethod(lambda: time.monotonic() + 10**6 * end.exists())
main()
"""
"""The command line, with a pool for which the time is over as soon as there is a file."""
TELL_QUESTIONS = """
ask, asked = WorkerPool._has_ready_task, Path(sys.argv.pop(1))
WorkerPool._has_ready_task = lambda pool: (found := ask(pool), asked.touch())[0]
"""
"""Makes a file when the pool has asked the queue without starting a worker."""


@pytest.fixture(autouse=True)
def confined(requires_sandbox) -> None:
    requires_sandbox()


@pytest.fixture(autouse=True)
def heeded() -> Iterator[None]:
    """A process that is started in the background or by nohup inherits ignored signals, and the pool would ignore them, too."""
    before = [(one, signal.signal(one, signal.SIG_DFL)) for one in (signal.SIGHUP, signal.SIGINT)]
    signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    for one, handler in before:
        signal.signal(one, handler)


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
    return {ticket["task"]: ticket["owner"] for ticket in person.types("list", "--json").json}


def test_each_of_several_tasks_is_done_once_by_workers_of_their_own(person: Person) -> None:
    script = person.script([MEND], [COMPLETE])
    tasks = [person.adds(f"double is wrong {number}") for number in range(2)]
    tasks, before = [*tasks, person.adds("double is wrong 2", "--after", tasks[0])], person.belongings()
    worker = person.starts("work", "--workers", "2", "--until-empty", "--model", script)
    code, out, err = ended(worker)
    assert code == 0, err
    assert Counter(line.split(":")[0] for line in out.splitlines()) == Counter(tasks)
    processes = {line.split("process ")[1] for line in err.splitlines() if "claimed by process" in line}
    assert len(processes) == 3 and str(worker.pid) not in processes
    for task in tasks:
        assert person.shown(task)["status"] == "done" and count_claims(person, task) == 1
        assert f"{task}: 1 ✓" in err, "one line for each step, with the name of its task"
    assert person.belongings() == before and set(owners(person).values()) == {""}


def test_the_task_of_a_killed_worker_is_taken_over_by_another(person: Person) -> None:
    (task,) = add_tasks(person, 1)
    pool = person.starts("work", "--workers", "1", "--until-empty")
    reply(requests(person.folder / "box", 1, pool)[0], MEND)
    (second,) = requests(person.folder / "box", 1, pool)
    victim = owners(person)[task].split(":")[1]
    assert int(victim) != pool.pid
    os.kill(int(victim), signal.SIGKILL)
    while owners(person)[task].split(":")[1:2] in ([], [victim]):
        assert pool.poll() is None, pool.communicate()
        time.sleep(0.05)
    reply(second, COMPLETE)
    code, out, err = ended(pool)
    assert code == 0 and f"{task}: done" in out, err
    assert f"{task}: process {victim} was ended by SIGKILL; another takes the task over" in err
    assert person.shown(task)["calls"] == 2 and count_claims(person, task) == 2


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_workers_after_their_step(person: Person, number: signal.Signals) -> None:
    (task,) = add_tasks(person, 1)
    pool = person.starts("work", "--workers", "2", "--until-empty")
    (asked,) = requests(person.folder / "box", 1, pool)
    pool.send_signal(number)
    wait_for_line(pool, f"{number.name}; once more")
    reply(asked, MEND)
    code, _, err = ended(pool)
    assert code == 130 and f"`afresh resume {task}` continues" in err
    shown = person.shown(task)
    assert (shown["step"], shown["calls"]) == (1, 1), "the reply that it waited for was carried out"
    assert owners(person)[task] == "" and person.types("list", "--json").json[0]["ready"]


def test_a_second_signal_ends_at_once_and_the_task_goes_on_later(person: Person) -> None:
    (task,) = add_tasks(person, 1)
    pool = person.starts("work", "--workers", "1")
    (asked,) = requests(person.folder / "box", 1, pool)
    pool.send_signal(signal.SIGTERM)
    wait_for_line(pool, "once more")
    pool.send_signal(signal.SIGTERM)
    assert ended(pool)[0] == 130 and owners(person)[task] == ""
    reply(asked, MEND)
    again = person.starts("work", "--workers", "1")
    reply(requests(person.folder / "box", 1, again)[0], COMPLETE)
    assert ended(again)[0] == 0 and person.shown(task)["calls"] == 2


def test_when_the_time_is_over_no_task_is_begun_and_the_step_is_ended(person: Person) -> None:
    (first, second), end = add_tasks(person, 2), person.folder / "end"
    pool = person.starts("work", "--for", "8h", program=("-c", COMMAND_WITH_CLOCK, str(end)))
    (asked,) = requests(person.folder / "box", 1, pool)
    end.touch()
    wait_for_line(pool, "the time is over")
    reply(asked, MEND)
    code, _, err = ended(pool)
    assert code == 0, err
    assert person.shown(first)["step"] == 1 and person.shown(second)["status"] == "ready"


def test_a_pool_that_waits_takes_a_task_that_is_added_later(person: Person) -> None:
    end, asked = person.folder / "end", person.folder / "asked"
    program = COMMAND_WITH_CLOCK.replace("main()\n", TELL_QUESTIONS) + "main()\n"
    pool = person.starts("work", "--for", "8h", program=("-c", program, str(end), str(asked)))
    for _ in range(LONGEST * 20):
        if asked.exists():
            break
        time.sleep(0.05)
    (task,) = add_tasks(person, 1)
    reply(requests(person.folder / "box", 1, pool)[0], MEND)
    reply(requests(person.folder / "box", 1, pool)[0], COMPLETE)
    wait_for_line(pool, "reported done")
    end.touch()
    code, out, err = ended(pool)
    assert code == 0 and f"{task}: done" in out, err


def test_a_worker_whose_pool_was_killed_ends_its_step_and_buys_no_more(person: Person) -> None:
    tasks = add_tasks(person, 2)
    pool = person.starts("work", "--workers", "2", "--until-empty")
    asked = requests(person.folder / "box", 2, pool)
    workers = [owners(person)[task] for task in tasks]
    pool.kill()
    pool.wait()
    for one in asked:
        reply(one, MEND)
    deadline = time.monotonic() + LONGEST
    while not all(map(is_worker_dead, workers)):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    for task in tasks:
        shown = person.shown(task)
        assert (shown["step"], shown["calls"]) == (1, 1) and owners(person)[task] == ""
    assert len([*(person.folder / "box").rglob("*.request.md")]) == 2


def test_a_worker_that_crashes_is_not_begun_for_ever(person: Person) -> None:
    (task,) = add_tasks(person, 1)
    broken = "import afresh.app.pool_worker as w; w.run_task = lambda *_: 1 / 0; from afresh.cli.main import main; main()"
    pool = person.starts("work", "--workers", "1", "--until-empty", program=("-c", broken))
    out, err = pool.communicate(timeout=LONGEST)
    assert pool.returncode == 3 and "ZeroDivisionError" in err, out + err
    assert person.shown(task)["status"] == "blocked" and "3 workers have died at this task" in err


def test_who_waits_for_a_turn_under_a_rate_limit_can_be_stopped(person: Person) -> None:
    config = person.folder / "config" / "afresh" / "config.toml"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text("[rates.mailbox]\nrequests = 1\n")
    tasks = add_tasks(person, 2)
    pool = person.starts("work", "--workers", "2", "--until-empty", XDG_CONFIG_HOME=str(person.folder / "config"))
    wait_for_line(pool, "for its turn: your limit is 1 requests a minute for mailbox")
    (asked,) = requests(person.folder / "box", 1, pool)
    pool.terminate()
    wait_for_line(pool, "once more")
    reply(asked, MEND)
    assert ended(pool)[0] == 130
    assert sorted(person.shown(task)["calls"] for task in tasks) == [0, 1]


@pytest.mark.parametrize("given", ["8", "h", "0s", "-1h", "8 h", "1.5h"])
def test_what_is_no_duration_is_refused(person: Person, given: str) -> None:
    told = person.types("work", "--for", given)
    assert told.code == 2 and "is not a duration" in told.words
