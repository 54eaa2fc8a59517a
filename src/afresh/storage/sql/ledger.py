"""The ledger of the user, shared by all projects and processes."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from afresh.core.ledger import CallPayment, CallStatus, LedgerCall, PricedBooking, SpendingFilter, SpendingTally
from afresh.core.rate_limit import CallTurn, RateLimit, TakenTurn
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
from afresh.spending.limit_checks import SUMMED_SCOPES, LimitCheck
from afresh.storage.sql.call_turns import TurnClock, insert_turn, read_boot_time, update_turn
from afresh.storage.sql.database import SqlConnection, SqlDatabase, repeat_if_lost

ADD_TO_TALLY_SQL = (
    "INSERT INTO tally (scope, key, unit, spent) VALUES (?, ?, ?, ?)"
    " ON CONFLICT (scope, key, unit) DO UPDATE SET spent = tally.spent + excluded.spent"
)
TRIPPED_SQL = "SELECT scope, key, unit, most, at, spent, asked FROM breaker WHERE ended IS NULL"
STOPS_ACCOUNT_SQL = (
    " AND (scope IN ('day', 'month', 'total') OR (scope IN ('call', 'task') AND key = ?) OR (scope = 'project' AND key = ?))"
)


@dataclass(frozen=True, slots=True)
class SqlLimitRecords:
    connection: SqlConnection

    def tally(self, account: SpendingAccount, scope: LimitScope, unit: LimitUnit) -> SpendingTally:
        row = self.connection.execute(
            "SELECT spent - base, base FROM tally WHERE scope = ? AND key = ? AND unit = ?", (scope, account.key(scope), unit)
        ).fetchone()
        return SpendingTally(*row) if row else SpendingTally()

    def tripped(self, account: SpendingAccount | None = None) -> list[TrippedLimit]:
        keys = (account.key(LimitScope.TASK), account.key(LimitScope.PROJECT)) if account else ()
        rows = self.connection.execute(f"{TRIPPED_SQL}{STOPS_ACCOUNT_SQL if account else ''} ORDER BY number", keys)
        return [
            TrippedLimit(SpendingLimit(LimitScope(scope), LimitUnit(unit), most), key, at, spent, asked)
            for scope, key, unit, most, at, spent, asked in rows
        ]

    def trip(self, breaker: TrippedLimit) -> None:
        limit = breaker.limit
        row = (limit.scope, breaker.key, limit.unit, limit.most, breaker.spent, breaker.asked, breaker.at)
        self.connection.execute(
            "INSERT INTO breaker (scope, key, unit, most, spent, asked, at) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
            row,
        )

    def end(self, breaker: TrippedLimit, at: float, why: str) -> None:
        self.connection.execute(
            "UPDATE breaker SET ended = ?, why = ? WHERE scope = ? AND key = ? AND unit = ? AND ended IS NULL",
            (at, why, breaker.limit.scope, breaker.key, breaker.limit.unit),
        )

    def add_alert(self, alert: LimitAlert, base: int, at: float) -> bool:
        limit = alert.limit
        rows = self.connection.execute(
            "INSERT INTO alert (scope, key, unit, percent, most, base, spent, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
            " ON CONFLICT DO NOTHING",
            (limit.scope, alert.key, limit.unit, alert.percent, limit.most, base, alert.spent, at),
        )
        return rows.rowcount > 0

    def alerts(self, most: int) -> list[tuple[LimitAlert, float]]:
        rows = self.connection.execute(
            "SELECT scope, key, unit, percent, most, spent, at FROM alert ORDER BY at DESC, percent DESC LIMIT ?", (most,)
        )
        return [
            (LimitAlert(SpendingLimit(LimitScope(scope), LimitUnit(unit), limit), key, percent, spent), at)
            for scope, key, unit, percent, limit, spent, at in rows
        ]

    def add_charge(self, account: SpendingAccount, charge: Charge) -> None:
        rows = [
            (scope, account.key(scope), unit, charge.of(unit)) for scope in SUMMED_SCOPES for unit in LimitUnit if charge.of(unit)
        ]
        self.connection.executemany(ADD_TO_TALLY_SQL, rows)

    def reset(self, account: SpendingAccount, scope: LimitScope, booked: Iterable[LedgerCall]) -> None:
        """Count from here. What is booked and not paid yet goes on to count."""
        key = account.key(scope)
        own = [call.charge for call in booked if call.booking.account.key(scope) == key]
        for unit in LimitUnit:
            self.connection.execute(
                "UPDATE tally SET base = spent - ? WHERE scope = ? AND key = ? AND unit = ?",
                (sum(charge.of(unit) for charge in own), scope, key, unit),
            )


BOOKING_COLUMNS = (
    "at, project, name, task, parent, kind, model, step, ceiling, estimated, reserve, sections, price, worst, worker"
)
PAYMENT_COLUMNS = "input, output, cached, written, thinking, counted, paid, paid_input, note"
SELECT_CALLS_SQL = f"SELECT number, state, {BOOKING_COLUMNS}, {PAYMENT_COLUMNS} FROM call"
INSERT_CALL_SQL = f"INSERT INTO call ({BOOKING_COLUMNS}, state) VALUES ({', '.join('?' * 16)}) RETURNING number"
RECORD_PAYMENT_SQL = f"UPDATE call SET ({PAYMENT_COLUMNS}, state) = ({', '.join('?' * 10)}) WHERE number = ?"
T = TypeVar("T")


class SqlLedger:
    """What holds it is made when the first call is booked. A check and its consequences are one transaction."""

    def __init__(self, database: SqlDatabase, read_time: TurnClock = read_boot_time) -> None:
        self._database, self._read_time = database, read_time

    @repeat_if_lost
    def book(self, order: PricedBooking) -> int | TrippedLimit:
        with self._database.writing() as connection:
            records = SqlLimitRecords(connection)
            if refusal := LimitCheck(records, order.account, order.limits).find_refusal(order.charge):
                return refusal
            records.add_charge(order.account, order.charge)
            return _insert_call(connection, order)

    @repeat_if_lost
    def settle(self, number: int, payment: CallPayment, limits: Sequence[SpendingLimit]) -> list[LimitAlert]:
        with self._database.writing() as connection:
            call = _find_booked_call(connection, number)
            if call is None:
                return []
            _record_payment(connection, number, payment, CallStatus.SETTLED)
            real = call.booking.charge_payment(payment)
            return _charge_account(connection, call.booking.account, real - call.charge, real, limits)

    @repeat_if_lost
    def cancel(self, number: int, note: str, refund: bool = True) -> None:
        with self._database.writing() as connection:
            call = _find_booked_call(connection, number)
            if call is None:
                return
            status = CallStatus.CANCELLED if refund else CallStatus.BOOKED
            _record_payment(connection, number, CallPayment(Usage(), False, 0, 0, note), status)
            if refund:
                SqlLimitRecords(connection).add_charge(call.booking.account, Charge() - call.charge)

    @repeat_if_lost
    def enter(self, made: Sequence[tuple[PricedBooking, CallPayment]]) -> list[LimitAlert]:
        alerts: list[LimitAlert] = []
        with self._database.writing() as connection:
            for order, payment in made:
                _record_payment(connection, _insert_call(connection, order), payment, CallStatus.SETTLED)
                real = order.charge_payment(payment)
                alerts += _charge_account(connection, order.account, real, real, order.limits)
        return alerts

    def calls(self, which: SpendingFilter) -> list[LedgerCall]:
        conditions, values = ["state = 'booked'" if which.only_booked else "state != 'cancelled'", "at >= ?"], [which.since]
        if which.project:
            conditions, values = [*conditions, "project = ?"], [*values, which.project]
        if which.task:
            conditions, values = [*conditions, "(task = ? OR parent = ?)"], [*values, which.task, which.task]
        return self._read(lambda connection: _read_calls(connection, " AND ".join(conditions), values), [])

    @repeat_if_lost
    def take_turn(self, model: str, tokens: int, limits: Sequence[RateLimit]) -> CallTurn:
        with self._database.writing() as connection:
            boot, now = self._read_time(connection)
            return insert_turn(connection, TakenTurn(model, now, tokens), limits, boot)

    @repeat_if_lost
    def end_turn(self, number: int, tokens: int) -> None:
        with self._database.writing() as connection:
            update_turn(connection, number, tokens)

    def tally(self, account: SpendingAccount, scope: LimitScope, unit: LimitUnit) -> SpendingTally:
        return self._read(lambda connection: SqlLimitRecords(connection).tally(account, scope, unit), SpendingTally())

    def tripped(self, account: SpendingAccount | None = None) -> list[TrippedLimit]:
        return self._read(lambda connection: SqlLimitRecords(connection).tripped(account), [])

    def alerts(self, most: int) -> list[tuple[LimitAlert, float]]:
        return self._read(lambda connection: SqlLimitRecords(connection).alerts(most), [])

    @repeat_if_lost
    def reset(self, account: SpendingAccount, scope: LimitScope) -> list[TrippedLimit]:
        with self._database.writing() as connection:
            records = SqlLimitRecords(connection)
            ended = [limit for limit in records.tripped(account) if limit.limit.scope is scope]
            for breaker in ended:
                records.end(breaker, account.at, "reset")
            records.reset(account, scope, _read_calls(connection, "state = 'booked'", ()))
        return ended

    def close(self) -> None:
        self._database.close()

    @repeat_if_lost
    def _read(self, ask: Callable[[SqlConnection], T], empty: T) -> T:
        if not self._database.is_there():
            return empty
        with self._database.reading() as connection:
            return ask(connection)


def _charge_account(
    connection: SqlConnection, account: SpendingAccount, change: Charge, real: Charge, limits: Sequence[SpendingLimit]
) -> list[LimitAlert]:
    records = SqlLimitRecords(connection)
    records.add_charge(account, change)
    return LimitCheck(records, account, limits).check_payment(real)


def _insert_call(connection: SqlConnection, order: PricedBooking) -> int:
    call, account = order.call, order.account
    row = (
        account.at, account.project, call.project, call.task, call.parent, call.kind, call.model, call.step, call.ceiling,
        call.tokens, call.reserve, _sections_to_json(call.sections), order.price, order.worst, order.worker, CallStatus.BOOKED,
    )  # fmt: skip
    return connection.execute(INSERT_CALL_SQL, row).fetchall()[0][0]


def _sections_to_json(sections: Sequence[tuple[str, int]]) -> str:
    """A prompt may have several sections of one name, so no dict will do."""
    return "{" + ", ".join(f"{json.dumps(name)}: {tokens}" for name, tokens in sections) + "}"


def _record_payment(connection: SqlConnection, number: int, payment: CallPayment, status: CallStatus) -> None:
    usage = payment.usage
    used = (usage.input, usage.output, usage.cached, usage.written, usage.thinking)
    paid = (int(payment.counted), payment.paid, payment.paid_input, payment.note)
    connection.execute(RECORD_PAYMENT_SQL, (*used, *paid, status, number))


def _read_calls(connection: SqlConnection, condition: str, values: Sequence[float | str]) -> list[LedgerCall]:
    rows = connection.execute(f"{SELECT_CALLS_SQL} WHERE {condition} ORDER BY number", values)
    return [LedgerCall(row[0], CallStatus(row[1]), _booking_from_row(row[2:17]), _payment_from_row(row[17:])) for row in rows]


def _find_booked_call(connection: SqlConnection, number: int) -> LedgerCall | None:
    return next(iter(_read_calls(connection, "number = ? AND state = 'booked'", (number,))), None)


def _booking_from_row(row: Sequence[Any]) -> PricedBooking:
    at, project, name, task, parent, kind, model, step, ceiling, estimated, reserve, sections, price, worst, worker = row
    call = CallBooking(
        task=task, project=name, kind=CallPurpose(kind), model=model, step=step, ceiling=ceiling, tokens=estimated,
        reserve=reserve, sections=json.loads(sections, object_pairs_hook=tuple), parent=parent,
    )  # fmt: skip
    return PricedBooking(call, SpendingAccount(project, call.payer, at), worst, price, worker)


def _payment_from_row(row: Sequence[Any]) -> CallPayment:
    *used, counted, paid, paid_input, note = row
    return CallPayment(Usage(*used), bool(counted), paid, paid_input, note)
