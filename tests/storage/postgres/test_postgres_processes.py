"""Real processes on one server: no limit is passed, no task is claimed twice, no step is lost."""

import subprocess
import sys
from typing import Any

from afresh.core.ledger import SpendingFilter
from afresh.spending.reports import sum_calls
from afresh.storage.postgres.storage import open_postgres_ledger
from support.fakes import FakeClock
from support.sample_journals import create_task

PRELUDE = """
import sys
from afresh.storage.postgres.storage import *
from afresh.core.spending import *
from afresh.core.ledger import *
from afresh.core.usage import Usage
address, key, shared, name = sys.argv[1:]
class Wall:
    def now(self): return 1.0
storage = open_postgres_storage(address, PostgresProject(key), Wall(), shared)
"""
BOOK = (
    PRELUDE
    + """
limit = SpendingLimit(LimitScope.TOTAL, LimitUnit.MONEY, 1_000)
call = CallBooking(task=name, project="p", kind=CallPurpose.WORK, model="m", step=1, ceiling=9, tokens=9, reserve=9, sections=())
made = 0
order = PricedBooking(call, SpendingAccount("p", name, 1.0), 30, "known", name, (limit,))
while isinstance(number := storage.ledger.book(order), int):
    storage.ledger.settle(number, CallPayment(Usage(1, 1), True, 25, 5, ""), (limit,))
    made += 1
print(made)
"""
)
CLAIM = (
    PRELUDE
    + """
from support.sample_journals import append_step
while task := storage.queue.claim(name):
    append_step(storage.journal, storage.journal.load(task))
    print(task)
"""
)


def run_together(program: str, place: Any, count: int = 4) -> list[list[str]]:
    given = [place.address, place.project.key, place.shared]
    command = [sys.executable, "-c", program, *given]
    processes = [subprocess.Popen([*command, f"host{n}:1:1"], stdout=subprocess.PIPE, text=True) for n in range(count)]
    outputs = [process.communicate()[0].split() for process in processes]
    assert [process.returncode for process in processes] == [0] * count
    return outputs


def test_workers_that_hammer_one_limit_never_pass_it(postgres: Any) -> None:
    made = sum(int(lines[0]) for lines in run_together(BOOK, postgres))
    spent = sum_calls(open_postgres_ledger(postgres.address, postgres.shared).calls(SpendingFilter())).money
    assert spent == made * 25 and 1_000 - 30 < spent <= 1_000


def test_each_task_is_claimed_by_one_of_many_processes(postgres: Any) -> None:
    storage = postgres.open(FakeClock())
    tasks = [f"task-{number}" for number in range(12)]
    for task in tasks:
        create_task(storage.journal, task)
    claimed = [task for lines in run_together(CLAIM, postgres) for task in lines]
    assert sorted(claimed) == sorted(tasks)
    assert {task: storage.journal.load(task).work.step for task in tasks} == dict.fromkeys(tasks, 1)
    storage.close()
