"""The ledger in one SQLite file of the user's, shared by all projects and processes."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from sqlite3 import Connection
from typing import Any, TypeVar

from afresh.core.ledger import CallPayment, CallStatus, LedgerCall, PricedBooking, SpendingFilter, SpendingTally
from afresh.core.spending import (
    CallBooking,
    CallPurpose,
    Charge,
    LimitAlert,
    LimitScope,
    LimitUnit,
    SpendingAccount,
    SpendingLimit,
    TrippedLimit,
)
from afresh.core.usage import Usage
from afresh.spending.limit_checks import LimitCheck
from afresh.storage.sqlite.database import Database
from afresh.storage.sqlite.limit_records import SqliteLimitRecords
from afresh.storage.sqlite.migrations import LEDGER_SCHEMA

BOOKING_COLUMNS = (
    "at, project, name, task, parent, kind, model, step, ceiling, estimated, reserve, sections, price, worst, worker"
)
PAYMENT_COLUMNS = "input, output, cached, written, thinking, counted, paid, paid_input, note"
SELECT_CALLS_SQL = f"SELECT number, state, {BOOKING_COLUMNS}, {PAYMENT_COLUMNS} FROM call"
INSERT_CALL_SQL = f"INSERT INTO call ({BOOKING_COLUMNS}, state) VALUES ({', '.join('?' * 16)})"
RECORD_PAYMENT_SQL = f"UPDATE call SET ({PAYMENT_COLUMNS}, state) = ({', '.join('?' * 10)}) WHERE number = ?"
T = TypeVar("T")


class SqliteLedger:
    """Its file is made when the first call is booked. Every check and what follows from it is one transaction."""

    def __init__(self, path: Path) -> None:
        self._database = Database(path, schema=LEDGER_SCHEMA)

    def book(self, order: PricedBooking) -> int | TrippedLimit:
        with self._writing() as connection:
            records = SqliteLimitRecords(connection)
            if refusal := LimitCheck(records, order.account, order.limits).find_refusal(order.charge):
                return refusal
            records.add_charge(order.account, order.charge)
            return _insert_call(connection, order)

    def settle(self, number: int, payment: CallPayment, limits: Sequence[SpendingLimit]) -> list[LimitAlert]:
        with self._writing() as connection:
            call = _find_booked_call(connection, number)
            if call is None:
                return []
            _record_payment(connection, number, payment, CallStatus.SETTLED)
            return _charge_account(connection, call.booking.account, payment.charge - call.charge, payment, limits)

    def cancel(self, number: int, note: str, refund: bool = True) -> None:
        with self._writing() as connection:
            call = _find_booked_call(connection, number)
            if call is None:
                return
            status = CallStatus.CANCELLED if refund else CallStatus.BOOKED
            _record_payment(connection, number, CallPayment(Usage(), False, 0, 0, note), status)
            if refund:
                SqliteLimitRecords(connection).add_charge(call.booking.account, Charge() - call.charge)

    def enter(self, made: Sequence[tuple[PricedBooking, CallPayment]]) -> list[LimitAlert]:
        alerts: list[LimitAlert] = []
        with self._writing() as connection:
            for order, payment in made:
                _record_payment(connection, _insert_call(connection, order), payment, CallStatus.SETTLED)
                alerts += _charge_account(connection, order.account, payment.charge, payment, order.limits)
        return alerts

    def calls(self, which: SpendingFilter) -> list[LedgerCall]:
        conditions, values = ["state = 'booked'" if which.only_booked else "state != 'cancelled'", "at >= ?"], [which.since]
        if which.project:
            conditions, values = [*conditions, "project = ?"], [*values, which.project]
        if which.task:
            conditions, values = [*conditions, "(task = ? OR parent = ?)"], [*values, which.task, which.task]
        return self._read(lambda connection: _read_calls(connection, " AND ".join(conditions), values), [])

    def tally(self, account: SpendingAccount, scope: LimitScope, unit: LimitUnit) -> SpendingTally:
        return self._read(lambda connection: SqliteLimitRecords(connection).tally(account, scope, unit), SpendingTally())

    def tripped(self, account: SpendingAccount | None = None) -> list[TrippedLimit]:
        return self._read(lambda connection: SqliteLimitRecords(connection).tripped(account), [])

    def alerts(self, most: int) -> list[tuple[LimitAlert, float]]:
        return self._read(lambda connection: SqliteLimitRecords(connection).alerts(most), [])

    def reset(self, account: SpendingAccount, scope: LimitScope) -> list[TrippedLimit]:
        with self._writing() as connection:
            records = SqliteLimitRecords(connection)
            ended = [one for one in records.tripped(account) if one.limit.scope is scope]
            for breaker in ended:
                records.end(breaker, account.at, "reset")
            records.reset(account, scope, _read_calls(connection, "state = 'booked'", ()))
        return ended

    def close(self) -> None:
        self._database.close()

    def _read(self, ask: Callable[[Connection], T], empty: T) -> T:
        if not self._database.path.exists():
            return empty
        with self._database.reading() as connection:
            return ask(connection)

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        self._database.path.parent.mkdir(parents=True, exist_ok=True)
        with self._database.writing() as connection:
            yield connection


def _charge_account(
    connection: Connection, account: SpendingAccount, change: Charge, payment: CallPayment, limits: Sequence[SpendingLimit]
) -> list[LimitAlert]:
    records = SqliteLimitRecords(connection)
    records.add_charge(account, change)
    return LimitCheck(records, account, limits).check_payment(payment.charge)


def _insert_call(connection: Connection, order: PricedBooking) -> int:
    call, account = order.call, order.account
    row = (
        account.at, account.project, call.project, call.task, call.parent, call.kind, call.model, call.step, call.ceiling,
        call.tokens, call.reserve, json.dumps(dict(call.sections)), order.price, order.worst, order.worker, CallStatus.BOOKED,
    )  # fmt: skip
    made = connection.execute(INSERT_CALL_SQL, row)
    assert made.lastrowid is not None
    return made.lastrowid


def _record_payment(connection: Connection, number: int, payment: CallPayment, status: CallStatus) -> None:
    usage = payment.usage
    used = (usage.input, usage.output, usage.cached, usage.written, usage.thinking)
    paid = (payment.counted, payment.paid, payment.paid_input, payment.note)
    connection.execute(RECORD_PAYMENT_SQL, (*used, *paid, status, number))


def _read_calls(connection: Connection, condition: str, values: Sequence[float | str]) -> list[LedgerCall]:
    rows = connection.execute(f"{SELECT_CALLS_SQL} WHERE {condition} ORDER BY number", values)
    return [LedgerCall(row[0], CallStatus(row[1]), _booking_from_row(row[2:17]), _payment_from_row(row[17:])) for row in rows]


def _find_booked_call(connection: Connection, number: int) -> LedgerCall | None:
    return next(iter(_read_calls(connection, "number = ? AND state = 'booked'", (number,))), None)


def _booking_from_row(row: Sequence[Any]) -> PricedBooking:
    at, project, name, task, parent, kind, model, step, ceiling, estimated, reserve, sections, price, worst, worker = row
    call = CallBooking(
        task=task, project=name, kind=CallPurpose(kind), model=model, step=step, ceiling=ceiling, tokens=estimated,
        reserve=reserve, sections=tuple(json.loads(sections).items()), parent=parent,
    )  # fmt: skip
    return PricedBooking(call, SpendingAccount(project, call.payer, at), worst, price, worker)


def _payment_from_row(row: Sequence[Any]) -> CallPayment:
    *used, counted, paid, paid_input, note = row
    return CallPayment(Usage(*used), bool(counted), paid, paid_input, note)
