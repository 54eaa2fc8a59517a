"""Many processes, one limit: real ones, also killed in the middle of a call."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import afresh
from afresh.core.ledger import SpendingFilter
from afresh.core.spending import LimitScope, LimitUnit, SpendingAccount, SpendingLimit
from afresh.spending.reports import sum_calls
from afresh.storage.renew_lease import is_worker_dead
from afresh.storage.sqlite.storage import open_sqlite_ledger

SOURCE = str(Path(afresh.__file__).parents[1])
HEADER = """
import sys, time
from pathlib import Path
from afresh.spending.ledger import SpendingLedger, SpendingTerms
from afresh.storage.sqlite.storage import open_sqlite_ledger
from afresh.storage.renew_lease import identify_worker
from afresh.core.reply import Reply; from afresh.core.usage import Usage
from afresh.core.spending import SpendingLimits
from afresh.spending.price_list import Price
from afresh.core.spending import CallPurpose, CallBooking
from afresh.errors import OverLimit

class Prices:
    def of(self, model, size=0):
        return Price(1_000.0, 1_000.0, output=1_000.0)

class Wall:
    def now(self): return 1_760_000_000.0

terms = SpendingTerms("p", Prices(), SpendingLimits(call=9, task=9, day=0.5, month=9), worker=identify_worker())
books = SpendingLedger(open_sqlite_ledger(Path(sys.argv[1])), terms, Wall(), lambda text: None)
call = CallBooking(task="t", project="p", kind=CallPurpose.WORK, model="liar", ceiling=10, tokens=5, reserve=5)
"""
HAMMER = """
sys.stdin.read(1)
calls = 0
try:
    while calls < 1_000:
        booked = books.book(call)
        books.settle(booked, Reply(usage=Usage(int(sys.argv[2]), 0), counted=True))
        calls += 1
except OverLimit as fault:
    print(calls, fault.scope)
"""
DIE = """
books.book(call)
print("booked", flush=True)
time.sleep(60)
"""
LIMIT = SpendingLimit(LimitScope.DAY, LimitUnit.MONEY, 500_000_000)
CALL_COST = 10_000_000
"""Worst: ten tokens at a thousand dollars a million."""


def start(script: str, *args: str) -> subprocess.Popen[str]:
    pipe = subprocess.PIPE
    command, paths = [sys.executable, "-c", HEADER + script, *args], {"PYTHONPATH": SOURCE}
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True, env={**os.environ, **paths})


def hammered(path: Path, workers: int, tokens: int) -> Sequence[str]:
    """All begin at once; each goes on until it is stopped."""
    running = [start(HAMMER, str(path), str(tokens)) for _ in range(workers)]
    for one in running:
        assert one.stdin
        one.stdin.write("\n")
        one.stdin.flush()
    told = [one.communicate(timeout=600) for one in running]
    assert not any(err for _, err in told), told
    return [out.strip() for out, _ in told]


def test_workers_that_hammer_one_limit_never_pass_it(tmp_path: Path):
    path = tmp_path / "ledger.db"
    told = hammered(path, 4, 10)
    assert all(line.endswith("day") for line in told)
    assert sum(int(line.split()[0]) for line in told) == 50, "fifty calls fit exactly"
    assert sum_calls(open_sqlite_ledger(path).calls(SpendingFilter())).money == LIMIT.most


def test_where_calls_cost_more_than_their_worst_each_worker_passes_it_by_one_at_most(tmp_path: Path):
    path, workers, real = tmp_path / "ledger.db", 4, 30
    hammered(path, workers, real)
    over = sum_calls(open_sqlite_ledger(path).calls(SpendingFilter())).money - LIMIT.most
    assert over <= workers * real * 1_000_000


def test_a_killed_worker_s_call_stays_booked_at_its_worst_until_it_is_put_right(tmp_path: Path):
    path = tmp_path / "ledger.db"
    worker = start(DIE, str(path))
    assert worker.stdout and worker.stdout.readline() == "booked\n"
    ledger = open_sqlite_ledger(path)
    (call,) = ledger.calls(SpendingFilter(only_booked=True))
    assert not is_worker_dead(call.booking.worker), "it lives"
    worker.kill()
    worker.communicate()
    assert is_worker_dead(call.booking.worker) and call.is_open
    account = SpendingAccount("p", "t", 1_760_000_000.0)
    assert ledger.tally(account, LIMIT.scope, LIMIT.unit).spent == call.charge.money == CALL_COST
