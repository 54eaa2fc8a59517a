"""Sums, breakers and alerts within one transaction of the books."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from sqlite3 import Connection

from afresh.core.spending import (
    Charge,
    LimitAlert,
    LimitScope,
    LimitUnit,
    SpendingAccount,
    SpendingLimit,
    TrippedLimit,
    find_passed_alerts,
)

SUMMED_SCOPES = (LimitScope.TASK, LimitScope.PROJECT, LimitScope.DAY, LimitScope.MONTH, LimitScope.TOTAL)
ADD_TO_TALLY_SQL = (
    "INSERT INTO tally (scope, key, unit, spent) VALUES (?, ?, ?, ?)"
    " ON CONFLICT (scope, key, unit) DO UPDATE SET spent = spent + excluded.spent"
)
TRIPPED_BREAKERS_SQL = (
    "SELECT scope, key, unit, most, at, spent, asked FROM breaker WHERE ended IS NULL"
    " AND (scope IN ('day', 'month', 'total') OR (scope IN ('call', 'task') AND key = ?) OR (scope = 'project' AND key = ?))"
    " ORDER BY number"
)


def add_charge(connection: Connection, account: SpendingAccount, charge: Charge) -> None:
    rows = [
        (scope, account.key(scope), unit, charge.of(unit)) for scope in SUMMED_SCOPES for unit in LimitUnit if charge.of(unit)
    ]
    connection.executemany(ADD_TO_TALLY_SQL, rows)


def read_spent(connection: Connection, scope: LimitScope, key: str, unit: LimitUnit) -> int:
    """Since a person last reset its limit; what is booked counts at its worst."""
    return _read_tally(connection, scope, key, unit)[0]


def read_spent_in_all(connection: Connection, scope: LimitScope, key: str, unit: LimitUnit) -> int:
    """Whatever was reset."""
    return sum(_read_tally(connection, scope, key, unit))


def list_tripped_breakers(connection: Connection, account: SpendingAccount) -> list[TrippedLimit]:
    """Those that stop this account."""
    rows = connection.execute(TRIPPED_BREAKERS_SQL, (account.key(LimitScope.TASK), account.key(LimitScope.PROJECT)))
    return [_breaker_from_row(row) for row in rows]


def list_all_tripped_breakers(connection: Connection) -> list[TrippedLimit]:
    rows = connection.execute("SELECT scope, key, unit, most, at, spent, asked FROM breaker WHERE ended IS NULL ORDER BY number")
    return [_breaker_from_row(row) for row in rows]


def trip_breaker(connection: Connection, breaker: TrippedLimit) -> None:
    limit = breaker.limit
    row = (limit.scope, breaker.key, limit.unit, limit.most, breaker.spent, breaker.asked, breaker.at)
    connection.execute(
        "INSERT OR IGNORE INTO breaker (scope, key, unit, most, spent, asked, at) VALUES (?, ?, ?, ?, ?, ?, ?)", row
    )


def end_breaker(connection: Connection, breaker: TrippedLimit, at: float, why: str) -> None:
    connection.execute(
        "UPDATE breaker SET ended = ?, why = ? WHERE scope = ? AND key = ? AND unit = ? AND ended IS NULL",
        (at, why, breaker.limit.scope, breaker.key, breaker.limit.unit),
    )


def reset_tallies(connection: Connection, account: SpendingAccount, scope: LimitScope) -> None:
    """Count from here. What is booked and not paid yet goes on to count."""
    open_now = _sum_open_bookings(connection, account, scope)
    for unit in LimitUnit:
        connection.execute(
            "UPDATE tally SET base = spent - ? WHERE scope = ? AND key = ? AND unit = ?",
            (open_now.of(unit), scope, account.key(scope), unit),
        )


@dataclass(frozen=True, slots=True)
class LimitCheck:
    """Limits that count for an account, within a transaction."""

    connection: Connection
    account: SpendingAccount
    limits: Sequence[SpendingLimit]

    def refused(self, worst: Charge) -> TrippedLimit | None:
        """What stops a call: a breaker that has tripped before and was not raised since, or one that trips now."""
        for breaker in list_tripped_breakers(self.connection, self.account):
            limit = self._now(breaker.limit)
            if limit and limit.most <= breaker.limit.most:
                return breaker
            if limit or not self._exempt(breaker.limit):
                end_breaker(self.connection, breaker, self.account.at, "raised")
        for limit in self.limits:
            asked = worst.of(limit.unit)
            had = self._had(limit)
            if had + asked > limit.most:
                shown = asked if limit.scope is LimitScope.CALL else had
                return self._trip(limit, shown, asked)
        return None

    def over(self, real: Charge) -> None:
        """After a call: it may have cost more than was expected."""
        for limit in self.limits:
            had = real.of(limit.unit) if limit.scope is LimitScope.CALL else self._had(limit)
            if had > limit.most:
                self._trip(limit, had, 0)

    def alerts(self) -> Iterator[LimitAlert]:
        """Those that are new, and written down."""
        for limit in self.limits:
            if limit.scope is LimitScope.CALL:
                continue
            had, base = _read_tally(self.connection, limit.scope, self.account.key(limit.scope), limit.unit)
            yield from self._new(limit, had, base, find_passed_alerts(limit, had))

    def _new(self, limit: SpendingLimit, had: int, base: int, percents: Iterable[int]) -> Iterator[LimitAlert]:
        key = self.account.key(limit.scope)
        for percent in percents:
            made = self.connection.execute(
                "INSERT OR IGNORE INTO alert (scope, key, unit, percent, most, base, spent, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (limit.scope, key, limit.unit, percent, limit.most, base, had, self.account.at),
            )
            if made.rowcount:
                yield LimitAlert(limit, key, percent, had)

    def _trip(self, limit: SpendingLimit, shown: int, asked: int) -> TrippedLimit:
        key = self.account.key(limit.scope)
        breaker = TrippedLimit(limit, key, self.account.at, shown, asked)
        trip_breaker(self.connection, breaker)
        if limit.scope is not LimitScope.CALL:
            base = _read_tally(self.connection, limit.scope, key, limit.unit)[1]
            list(self._new(limit, shown, base, (100,)))
        return breaker

    def _had(self, limit: SpendingLimit) -> int:
        if limit.scope is LimitScope.CALL:
            return 0
        return read_spent(self.connection, limit.scope, self.account.key(limit.scope), limit.unit)

    def _now(self, old: SpendingLimit) -> SpendingLimit | None:
        return next((one for one in self.limits if (one.scope, one.unit) == (old.scope, old.unit)), None)

    def _exempt(self, old: SpendingLimit) -> bool:
        """Limits of money do not count for a model that nobody pays for: that it runs is no reason to end their breakers."""
        return old.unit is LimitUnit.MONEY and not any(one.unit is LimitUnit.MONEY for one in self.limits)


def _read_tally(connection: Connection, scope: LimitScope, key: str, unit: LimitUnit) -> tuple[int, int]:
    row = connection.execute(
        "SELECT spent - base, base FROM tally WHERE scope = ? AND key = ? AND unit = ?", (scope, key, unit)
    ).fetchone()
    return row or (0, 0)


def _sum_open_bookings(connection: Connection, account: SpendingAccount, scope: LimitScope) -> Charge:
    rows = connection.execute("SELECT project, task, parent, at, worst, estimated + reserve FROM call WHERE state = 'booked'")
    fits = [
        Charge(worst, tokens)
        for project, task, parent, at, worst, tokens in rows
        if SpendingAccount(project, parent or task, at).key(scope) == account.key(scope)
    ]
    return Charge(sum(one.money for one in fits), sum(one.tokens for one in fits))


def _breaker_from_row(row: tuple[str, str, str, int, float, int, int]) -> TrippedLimit:
    scope, key, unit, most, at, had, asked = row
    return TrippedLimit(SpendingLimit(LimitScope(scope), LimitUnit(unit), most), key, at, had, asked)
