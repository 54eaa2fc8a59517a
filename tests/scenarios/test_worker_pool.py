"""`afresh work --workers N`: several tasks at once, each once; workers that are stopped and killed."""

import os
import signal
import time
from collections import Counter

import pytest
from at_work import (
    LONGEST,
    HeldServer,
    add_tasks,
    count_claims,
    ended,
    heeded,  # noqa: F401
    owners,
    processes,
    reply,
    requests,
    wait_for_line,
    wait_until_dead,
)
from person import COMPLETE, MEND, Person

pytestmark = [pytest.mark.journey, pytest.mark.reported]


@pytest.mark.promise("one task at a time")
@pytest.mark.daily
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
    victim = processes(person)[task]
    assert victim != pool.pid
    os.kill(victim, signal.SIGKILL)
    while processes(person).get(task, victim) == victim:
        assert pool.poll() is None, pool.communicate()
        time.sleep(0.05)
    reply(second, COMPLETE)
    code, out, err = ended(pool)
    assert code == 0 and f"{task}: done" in out, err
    assert f"{task}: process {victim} was ended by SIGKILL; another takes the task over" in err
    assert person.shown(task)["calls"] == 2 and count_claims(person, task) == 2


OTHER_SIGNALS = [pytest.param(number, marks=pytest.mark.torture) for number in (signal.SIGINT, signal.SIGTERM)]


@pytest.mark.parametrize("number", [signal.SIGHUP, *OTHER_SIGNALS])
def test_a_signal_ends_the_workers_after_their_step(person: Person, held: HeldServer, number: signal.Signals) -> None:
    task = person.adds("double is wrong", "--model", "held")
    pool = person.starts("work", "--workers", "2", "--until-empty")
    asked = held.next_call()
    pool.send_signal(number)
    wait_for_line(pool, f"{number.name}; once more")
    asked.answer(MEND)
    code, _, err = ended(pool)
    assert code == 130 and f"`afresh resume {task}` continues" in err
    shown = person.shown(task)
    assert (shown["step"], shown["calls"]) == (1, 1), "the reply that it waited for was carried out"
    assert owners(person)[task] == "" and person.types("status", "--json").json["tasks"][0]["ready"]


def test_a_second_signal_ends_at_once_although_a_provider_hangs_and_the_task_goes_on_later(
    person: Person, held: HeldServer
) -> None:
    tasks = [person.adds(f"double is wrong {number}", "--model", "held") for number in range(3)]
    pool = person.starts("work", "--workers", "3")
    for _ in tasks:
        held.next_call()
    pool.send_signal(signal.SIGTERM)
    wait_for_line(pool, "once more")
    pool.send_signal(signal.SIGTERM)
    assert ended(pool)[0] == 130 and set(owners(person).values()) == {""}
    again = person.starts("work", "--workers", "1")
    held.next_call().answer(MEND)
    held.next_call().answer(COMPLETE)
    assert ended(again)[0] == 0 and person.shown(tasks[0])["calls"] == 2


@pytest.mark.parametrize("killed", [True, pytest.param(False, marks=pytest.mark.torture)])
def test_who_waits_for_a_mailbox_ends_without_the_reply_which_is_taken_later(person: Person, killed: bool) -> None:
    tasks = add_tasks(person, 3)
    pool = person.starts("work", "--workers", "3", "--until-empty")
    asked = requests(person.folder / "box", 3, pool)
    workers = [owners(person)[task] for task in tasks]
    if killed:
        pool.kill()
        pool.wait()
        wait_until_dead(workers)
    else:
        pool.send_signal(signal.SIGTERM)
        assert ended(pool)[0] == 130
    assert set(owners(person).values()) == {""} and {person.shown(task)["calls"] for task in tasks} == {0}
    for one in asked:
        reply(one, MEND)
    again = person.starts("work", "--workers", "3")
    for one in requests(person.folder / "box", 3, again):
        reply(one, COMPLETE)
    assert ended(again)[0] == 0 and {person.shown(task)["calls"] for task in tasks} == {2}


def test_a_worker_whose_pool_was_killed_ends_its_step_and_buys_no_more(person: Person, held: HeldServer) -> None:
    tasks = [person.adds(f"double is wrong {number}", "--model", "held") for number in range(3)]
    pool = person.starts("work", "--workers", "3", "--until-empty")
    calls = [held.next_call() for _ in tasks]
    workers = [owners(person)[task] for task in tasks]
    pool.kill()
    pool.wait()
    for one in calls:
        one.answer(MEND)
    wait_until_dead(workers)
    for task in tasks:
        shown = person.shown(task)
        assert (shown["step"], shown["calls"]) == (1, 1) and owners(person)[task] == ""
    assert held.asked.empty()


def test_a_worker_that_crashes_is_not_begun_for_ever(person: Person) -> None:
    (task,) = add_tasks(person, 1)
    broken = "import afresh.app.pool.pool_worker as w; w.run_task = lambda *_: 1 / 0; from afresh.cli.main import main; main()"
    pool = person.starts("work", "--workers", "1", "--until-empty", program=("-c", broken))
    out, err = pool.communicate(timeout=LONGEST)
    assert pool.returncode == 3 and "ZeroDivisionError" in err, out + err
    assert person.shown(task)["status"] == "blocked" and "3 workers have died at this task" in err
