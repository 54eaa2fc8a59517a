"""Several tasks in one process of a pool: what one of them does, or suffers, is not done to its neighbours."""

import os
import signal
import time
from pathlib import Path

import pytest
from at_work import (
    LONGEST,
    add_tasks,
    count_claims,
    ended,
    heeded,  # noqa: F401
    owners,
    processes,
    reply,
    requests,
    wait_for_line,
)
from person import COMPLETE, MEND, Person

pytestmark = [pytest.mark.journey, pytest.mark.reported]

COMMAND_WITH_GUILTY_TASK = """
import os, signal, sys, threading, time
from pathlib import Path
import afresh.app.pool.pool_worker as worker
from afresh.cli.main import main

folder, guilty, act = Path(sys.argv.pop(1)), sys.argv.pop(1), sys.argv.pop(1)
run_task, here = worker.run_task, threading.local()

def run(project, task, terms):
    (folder / f"claimed-{task}").touch()
    while len(list(folder.glob("claimed-*"))) < 4:
        time.sleep(0.01)
    if task == guilty:
        (folder / "guilty").touch()
        1 / 0 if act == "raise" else os.kill(os.getpid(), signal.SIGKILL)
    while not (folder / "guilty").exists():
        time.sleep(0.01)
    time.sleep(0.3)
    return run_task(project, task, terms)

worker.run_task = run
main()
"""
"""The command line, with a task that waits until all four are claimed, and kills its process or raises. The others follow."""
ENDLESS_CHECK = "touch begun && sleep 86399"


def wait_for(true) -> None:
    deadline = time.monotonic() + LONGEST
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_four_tasks_share_two_processes_and_all_are_done_once(person: Person) -> None:
    tasks = add_tasks(person, 4)
    pool = person.starts("work", "--workers", "4", "--until-empty")
    asked = requests(person.folder / "box", 4, pool)
    found, workers = processes(person), owners(person)
    assert set(found) == set(tasks) and len(set(found.values())) == 2 and len(set(workers.values())) == 4
    for one in asked:
        reply(one, MEND)
    for one in requests(person.folder / "box", 4, pool):
        reply(one, COMPLETE)
    code, out, err = ended(pool)
    assert code == 0, err
    assert {count_claims(person, task) for task in tasks} == {1} and all(f"{task}: done" in out for task in tasks)


@pytest.mark.parametrize("act", ["kill", "raise"])
def test_only_the_task_that_ends_its_workers_is_blocked(person: Person, act: str) -> None:
    script = person.script([MEND], [COMPLETE])
    tasks = [person.adds(f"double is wrong {number}") for number in range(4)]
    guilty, marks = tasks[1], person.folder / "marks"
    marks.mkdir()
    program = ("-c", COMMAND_WITH_GUILTY_TASK, str(marks), guilty, act)
    pool = person.starts("work", "--workers", "4", "--until-empty", "--model", script, program=program)
    _, err = pool.communicate(timeout=LONGEST)
    assert pool.returncode == 3, err
    statuses = {task: person.shown(task)["status"] for task in tasks}
    assert statuses == {task: "blocked" if task == guilty else "done" for task in tasks}, err
    assert f"{guilty}: 3 workers have died at this task" in err and err.count("workers have died") == 1
    assert ("with 2 tasks" in err) == (act == "kill"), "an error in one thread does not end the others"
    assert ("ZeroDivisionError" in err) == (act == "raise")


@pytest.mark.parametrize("patient", [True, False])
def test_a_second_signal_ends_a_command_that_runs_in_a_thread(person: Person, patient: bool) -> None:
    order = ("--check", ENDLESS_CHECK, "--model", person.script([MEND]))
    assert all(person.types("add", f"double is wrong {number}", *order).code == 0 for number in range(3))
    pool = person.starts("work", "--workers", "3", "--until-empty")
    wait_for(lambda: len([*person.trees.rglob("begun")]) == 3)
    workers = set(processes(person).values())
    pool.send_signal(signal.SIGTERM)
    if patient:
        wait_for_line(pool, "once more")
    pool.send_signal(signal.SIGTERM if patient else signal.SIGINT)
    code, _, err = ended(pool)
    assert code == 130 and "stopped at once" in err, err
    assert set(owners(person).values()) == {""}
    wait_for(lambda: not [one for one in workers if Path(f"/proc/{one}").exists()])
    wait_for(lambda: not find_commands(person))


def find_commands(person: Person) -> list[Path]:
    """Processes in the trees of this person that run the endless check."""
    found = list[Path]()
    for place in Path("/proc").glob("[0-9]*"):
        try:
            is_ours = str(person.folder) in os.readlink(place / "cwd")
            found += [place] if is_ours and b"86399" in (place / "cmdline").read_bytes() else []
        except OSError:
            continue
    return found


SEARCH = (
    "n=$(mktemp canary-XXXXXXXX); touch $TMPDIR/$n; "
    "ls canary-* $TMPDIR/canary-* TREES/*/canary-* $TMPDIR/../*/canary-* /tmp/*/canary-* "
    "2>/dev/null | sed 's/.*canary-//' | sort -u > found; umask > mask; env > variables; echo x 2>/dev/null > TREES/planted"
)
"""Leaves a file in its tree and in its temporary folder, and looks for those of others; writes beside its tree."""


def search_for_neighbours(
    person: Person, *more: str, program: tuple[str, ...] = ("-m", "afresh.cli.main")
) -> list[tuple[Path, set[str]]]:
    """What each of four tasks finds, by its tree. The last begins when another has ended, whose tree stays."""
    command = SEARCH.replace("TREES", str(person.trees))
    order = ("--check", "true", "--model", person.script([("run", {"command": command})], [COMPLETE]))
    for number in range(4):
        assert person.types("add", f"look around {number}", *order).code == 0
    command_line = ("work", "--workers", "3", "--until-empty", *more)
    code, _, err = ended(person.starts(*command_line, program=program, LEAKED_API_KEY="sk-leaked-0123456789"))
    assert err.count("claimed by process") == 4, (code, err)
    trees = sorted({path.parent for path in person.trees.rglob("found")})
    assert len(trees) == 4, err
    return [(tree, set((tree / "found").read_text().split())) for tree in trees]


@pytest.mark.sandboxed
def test_a_command_of_one_task_reaches_no_file_of_another_task_of_its_process(person: Person) -> None:
    for tree, found in search_for_neighbours(person):
        assert found == {path.name.removeprefix("canary-") for path in tree.glob("canary-*")}
        assert (tree / "mask").read_text().strip() == "0022" and "LEAKED" not in (tree / "variables").read_text()
    assert not (person.trees / "planted").exists()
