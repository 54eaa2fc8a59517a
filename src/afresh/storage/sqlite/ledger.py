"""The books in one SQLite file of the user's, shared by all projects and processes."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from sqlite3 import Connection

from afresh.core.spending import Charge, LimitAlert, LimitScope, LimitUnit, SpendingAccount, SpendingLimit, TrippedLimit
from afresh.core.usage import Usage
from afresh.spending import limit_checks
from afresh.spending.limit_checks import LimitCheck
from afresh.spending.payments import CallPayment, PricedBooking, UnpaidBooking
from afresh.storage.sqlite.database import Database
from afresh.storage.sqlite.migrations import LEDGER_SCHEMA

LOST_REPLY_NOTE = "the reply is lost; counted at its worst"
INSERT_CALL_SQL = (
    "INSERT INTO call (at, project, name, task, parent, kind, model, step, ceiling, estimated, reserve, sections, price, worst,"
    " worker, state) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
RECORD_PAYMENT_SQL = (
    "UPDATE call SET state = ?, input = ?, output = ?, cached = ?, written = ?, thinking = ?, counted = ?, paid = ?,"
    " paid_input = ?, note = ? WHERE number = ?"
)


class SqliteLedger:
    """Every check and what follows from it is one transaction that no other process can come between."""

    def __init__(self, path: Path) -> None:
        self._database = Database(path, schema=LEDGER_SCHEMA)

    @property
    def path(self) -> Path:
        return self._database.path

    def kept(self) -> bool:
        """Whether there are books at all. Nothing is made to find that out."""
        return self.path.exists()

    def book(self, order: PricedBooking) -> int | TrippedLimit:
        """The number of the call, or what stops it: then nothing is booked."""
        with self._writing() as connection:
            stopped = LimitCheck(connection, order.account, order.limits).refused(order.charge)
            if stopped:
                return stopped
            limit_checks.add_charge(connection, order.account, order.charge)
            return _insert_call(connection, order, "booked")

    def settle(self, number: int, payment: CallPayment, limits: Sequence[SpendingLimit]) -> list[LimitAlert]:
        """Only what is booked can be paid; whoever comes second changes nothing."""
        with self._writing() as connection:
            found = _find_open_booking(connection, number)
            if found is None:
                return []
            account, worst = found
            _record_payment(connection, number, payment, "settled")
            limit_checks.add_charge(connection, account, payment.charge - worst)
            return _check_after_payment(LimitCheck(connection, account, limits), payment.charge)

    def cancel(self, number: int, note: str) -> None:
        """Nothing was paid."""
        with self._writing() as connection:
            found = _find_open_booking(connection, number)
            if found:
                _record_payment(connection, number, CallPayment(Usage(), False, 0, 0, note), "cancelled")
                limit_checks.add_charge(connection, found[0], Charge() - found[1])

    def enter(self, made: Sequence[tuple[PricedBooking, CallPayment]]) -> list[LimitAlert]:
        """Calls that were never booked: nobody pays for them, or they come back from a journal."""
        told: list[LimitAlert] = []
        with self._writing() as connection:
            for order, payment in made:
                _record_payment(connection, _insert_call(connection, order, "booked"), payment, "settled")
                limit_checks.add_charge(connection, order.account, payment.charge)
                told += _check_after_payment(LimitCheck(connection, order.account, order.limits), payment.charge)
        return told

    def unpaid(self, project: str, dead: Callable[[str], bool]) -> list[UnpaidBooking]:
        """Calls of the project whose process has ended before they were paid."""
        with self._database.reading() as connection:
            rows = connection.execute(
                "SELECT worker, number, task, kind, model, step, estimated, reserve, worst FROM call"
                " WHERE state = 'booked' AND project = ? AND note = '' ORDER BY number",
                (project,),
            ).fetchall()
        return [UnpaidBooking(*row[1:]) for row in rows if dead(row[0])]

    def write_off(self, number: int) -> None:
        """It stays on the books at its worst, and is not looked for again."""
        with self._writing() as connection:
            connection.execute("UPDATE call SET note = ? WHERE number = ? AND state = 'booked'", (LOST_REPLY_NOTE, number))

    def paid_steps(self, project: str, task: str) -> set[tuple[str, int]]:
        """Kind and step of each call of a task that is paid."""
        with self._database.reading() as connection:
            rows = connection.execute(
                "SELECT kind, step FROM call WHERE project = ? AND task = ? AND state = 'settled'", (project, task)
            )
            return {(kind, step) for kind, step in rows}

    def breakers(self) -> list[TrippedLimit]:
        with self._database.reading() as connection:
            return limit_checks.list_all_tripped_breakers(connection)

    def stopping(self, account: SpendingAccount) -> list[TrippedLimit]:
        with self._database.reading() as connection:
            return limit_checks.list_tripped_breakers(connection, account)

    def reset(self, account: SpendingAccount, scope: LimitScope) -> list[TrippedLimit]:
        """A person's word: what was spent no longer counts against the limit. The breakers that it ended."""
        with self._writing() as connection:
            held = [one for one in limit_checks.list_tripped_breakers(connection, account) if one.limit.scope is scope]
            for breaker in held:
                limit_checks.end_breaker(connection, breaker, account.at, "reset")
            limit_checks.reset_tallies(connection, account, scope)
        return held

    def spent(self, account: SpendingAccount, limit: SpendingLimit) -> int:
        with self._database.reading() as connection:
            return limit_checks.read_spent(connection, limit.scope, account.key(limit.scope), limit.unit)

    def task_money(self, account: SpendingAccount) -> int:
        """All that a task has taken, whatever was reset; in a time that does not depend on the number of calls."""
        with self._database.reading() as connection:
            return limit_checks.read_spent_in_all(connection, LimitScope.TASK, account.key(LimitScope.TASK), LimitUnit.MONEY)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        with self._database.reading() as connection:
            yield connection

    def close(self) -> None:
        self._database.close()

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self._database.writing() as connection:
            yield connection


def _insert_call(connection: Connection, order: PricedBooking, state: str) -> int:
    call, account = order.call, order.account
    row = (
        account.at, account.project, call.project, call.task, call.parent, call.kind, call.model, call.step, call.ceiling,
        call.tokens, call.reserve, json.dumps(dict(call.sections)), order.price, order.worst, order.worker, state,
    )  # fmt: skip
    made = connection.execute(INSERT_CALL_SQL, row)
    assert made.lastrowid is not None
    return made.lastrowid


def _record_payment(connection: Connection, number: int, payment: CallPayment, state: str) -> None:
    usage = payment.usage
    used = (usage.input, usage.output, usage.cached, usage.written, usage.thinking)
    paid = (payment.paid, payment.paid_input, payment.note)
    connection.execute(RECORD_PAYMENT_SQL, (state, *used, payment.counted, *paid, number))


def _find_open_booking(connection: Connection, number: int) -> tuple[SpendingAccount, Charge] | None:
    row = connection.execute(
        "SELECT project, task, parent, at, worst, estimated + reserve FROM call WHERE number = ? AND state = 'booked'", (number,)
    ).fetchone()
    if row is None:
        return None
    project, task, parent, at, worst, tokens = row
    return SpendingAccount(project, parent or task, at), Charge(worst, tokens)


def _check_after_payment(check: LimitCheck, real: Charge) -> list[LimitAlert]:
    new = list(check.alerts())
    check.over(real)
    return new
