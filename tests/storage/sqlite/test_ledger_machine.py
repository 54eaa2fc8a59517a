"""Whatever happens in whatever order: sums are those of the rows, and no limit is passed by more than one call a worker."""

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from afresh.core.ledger import CallPayment, PricedBooking, SpendingFilter
from afresh.core.spending import CallBooking, CallPurpose, LimitScope, LimitUnit, SpendingAccount, SpendingLimit, TrippedLimit
from afresh.core.usage import Usage
from afresh.storage.sqlite.storage import open_sqlite_ledger

NOON, DAY = 1_760_000_000.0, 86_400.0
WORKERS = 3
TASKS = ("a", "b")
amounts = st.integers(0, 60)


class Spending(RuleBasedStateMachine):
    """Each worker has at most one call open, as real ones do. A worker that crashes leaves its call behind."""

    @initialize(most=st.integers(50, 200), scopes=st.sets(st.sampled_from(LimitScope), min_size=1))
    def begin(self, most: int, scopes: set[LimitScope]) -> None:
        import tempfile
        from pathlib import Path

        self.folder = tempfile.TemporaryDirectory()
        self.ledger = open_sqlite_ledger(Path(self.folder.name) / "ledger.db")
        self.limits = tuple(SpendingLimit(scope, LimitUnit.MONEY, most) for scope in scopes)
        self.at, self.open = NOON, dict[int, tuple[int, int]]()
        self.excess = 0
        """By which calls have cost more than their worst."""

    @rule(worker=st.integers(1, WORKERS), task=st.sampled_from(TASKS), worst=amounts)
    def book(self, worker: int, task: str, worst: int) -> None:
        if worker in self.open:
            return
        call = CallBooking(task=task, project="p", kind=CallPurpose.WORK, model="m", ceiling=99, tokens=worst, reserve=0)
        account = SpendingAccount("p", task, self.at)
        stops = {(one.limit.scope, one.key) for one in self.ledger.tripped(account)}
        before = {
            limit: self.ledger.tally(account, limit.scope, limit.unit).spent
            for limit in self.limits
            if limit.scope is not LimitScope.CALL
        }
        found = self.ledger.book(PricedBooking(call, account, worst, "known", str(worker), self.limits))
        if isinstance(found, TrippedLimit):
            assert (found.limit.scope, found.key) in {(one.limit.scope, one.key) for one in self.ledger.tripped()}
            return
        assert not stops, "nothing gets past a breaker"
        assert all(had + worst <= limit.most for limit, had in before.items())
        assert all(worst <= limit.most for limit in self.limits if limit.scope is LimitScope.CALL)
        self.open[worker] = (found, worst)

    @precondition(lambda self: self.open)
    @rule(data=st.data(), real=amounts)
    def settle(self, data: st.DataObject, real: int) -> None:
        worker = data.draw(st.sampled_from(sorted(self.open)))
        number, worst = self.open.pop(worker)
        self.excess = max(self.excess, real - worst)
        self.ledger.settle(number, CallPayment(Usage(real), True, real, real), self.limits)

    @precondition(lambda self: self.open)
    @rule(data=st.data())
    def cancel(self, data: st.DataObject) -> None:
        number, _ = self.open.pop(data.draw(st.sampled_from(sorted(self.open))))
        self.ledger.cancel(number, "fault")

    @precondition(lambda self: self.open)
    @rule(data=st.data())
    def crash(self, data: st.DataObject) -> None:
        worker = data.draw(st.sampled_from(sorted(self.open)))
        number, _ = self.open.pop(worker)
        booked = self.ledger.calls(SpendingFilter(project="p", only_booked=True))
        assert [one.number for one in booked if one.is_open and one.booking.worker == str(worker)] == [number]
        self.ledger.cancel(number, "lost", refund=False)
        self.ledger.close()

    @rule()
    def sleep(self) -> None:
        self.at += DAY

    @rule(scope=st.sampled_from(LimitScope), task=st.sampled_from(TASKS))
    def reset(self, scope: LimitScope, task: str) -> None:
        self.ledger.reset(SpendingAccount("p", task, self.at), scope)
        assert not [one for one in self.ledger.tripped(SpendingAccount("p", task, self.at)) if one.limit.scope is scope]

    @invariant()
    def sums_are_those_of_the_rows(self) -> None:
        if not hasattr(self, "ledger"):
            return
        calls = self.ledger.calls(SpendingFilter())
        with self.ledger._database.reading() as connection:
            tallies = connection.execute("SELECT scope, key, spent FROM tally WHERE unit = 'money'").fetchall()
        for scope, key, spent in tallies:
            assert spent == sum(call.charge.money for call in calls if call.booking.account.key(LimitScope(scope)) == key)

    @invariant()
    def no_limit_is_passed_by_more_than_one_call_each(self) -> None:
        if not hasattr(self, "ledger"):
            return
        for task in TASKS:
            for limit in self.limits:
                if limit.scope is not LimitScope.CALL:
                    spent = self.ledger.tally(SpendingAccount("p", task, self.at), limit.scope, limit.unit).spent
                    assert spent <= limit.most + WORKERS * self.excess

    def teardown(self) -> None:
        if hasattr(self, "folder"):
            self.ledger.close()
            self.folder.cleanup()


TestSpending = Spending.TestCase
TestSpending.settings = settings(stateful_step_count=30)
