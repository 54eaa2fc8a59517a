"""Sums, breakers and alerts within one transaction of the books."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from sqlite3 import Connection

from afresh.domain.limits import Account, Alert, Breaker, Charge, Limit, Scope, Unit, passed

SUMMED = (Scope.TASK, Scope.PROJECT, Scope.DAY, Scope.MONTH, Scope.TOTAL)
ADD = (
    "INSERT INTO tally (scope, key, unit, spent) VALUES (?, ?, ?, ?)"
    " ON CONFLICT (scope, key, unit) DO UPDATE SET spent = spent + excluded.spent"
)
TRIPPED = (
    "SELECT scope, key, unit, most, at, spent, asked FROM breaker WHERE ended IS NULL"
    " AND (scope IN ('day', 'month', 'total') OR (scope IN ('call', 'task') AND key = ?) OR (scope = 'project' AND key = ?))"
    " ORDER BY number"
)


def add(connection: Connection, account: Account, charge: Charge) -> None:
    rows = [(scope, account.key(scope), unit, charge.of(unit)) for scope in SUMMED for unit in Unit if charge.of(unit)]
    connection.executemany(ADD, rows)


def spent(connection: Connection, scope: Scope, key: str, unit: Unit) -> int:
    """Since a person last reset its limit; what is booked counts at its worst."""
    return _tally(connection, scope, key, unit)[0]


def whole(connection: Connection, scope: Scope, key: str, unit: Unit) -> int:
    """Whatever was reset."""
    return sum(_tally(connection, scope, key, unit))


def tripped(connection: Connection, account: Account) -> list[Breaker]:
    """Those that stop this account."""
    rows = connection.execute(TRIPPED, (account.key(Scope.TASK), account.key(Scope.PROJECT)))
    return [_breaker(row) for row in rows]


def all_tripped(connection: Connection) -> list[Breaker]:
    rows = connection.execute("SELECT scope, key, unit, most, at, spent, asked FROM breaker WHERE ended IS NULL ORDER BY number")
    return [_breaker(row) for row in rows]


def trip(connection: Connection, breaker: Breaker) -> None:
    limit = breaker.limit
    row = (limit.scope, breaker.key, limit.unit, limit.most, breaker.spent, breaker.asked, breaker.at)
    connection.execute(
        "INSERT OR IGNORE INTO breaker (scope, key, unit, most, spent, asked, at) VALUES (?, ?, ?, ?, ?, ?, ?)", row
    )


def end(connection: Connection, breaker: Breaker, at: float, why: str) -> None:
    connection.execute(
        "UPDATE breaker SET ended = ?, why = ? WHERE scope = ? AND key = ? AND unit = ? AND ended IS NULL",
        (at, why, breaker.limit.scope, breaker.key, breaker.limit.unit),
    )


def rebase(connection: Connection, account: Account, scope: Scope) -> None:
    """Count from here. What is booked and not paid yet goes on to count."""
    open_now = _booked(connection, account, scope)
    for unit in Unit:
        connection.execute(
            "UPDATE tally SET base = spent - ? WHERE scope = ? AND key = ? AND unit = ?",
            (open_now.of(unit), scope, account.key(scope), unit),
        )


@dataclass(frozen=True, slots=True)
class Check:
    """Limits that count for an account, within a transaction."""

    connection: Connection
    account: Account
    limits: Sequence[Limit]

    def refused(self, worst: Charge) -> Breaker | None:
        """What stops a call: a breaker that has tripped before and was not raised since, or one that trips now."""
        for breaker in tripped(self.connection, self.account):
            limit = self._now(breaker.limit)
            if limit and limit.most <= breaker.limit.most:
                return breaker
            if limit or not self._exempt(breaker.limit):
                end(self.connection, breaker, self.account.at, "raised")
        for limit in self.limits:
            asked = worst.of(limit.unit)
            had = self._had(limit)
            if had + asked > limit.most:
                shown = asked if limit.scope is Scope.CALL else had
                return self._trip(limit, shown, asked)
        return None

    def over(self, real: Charge) -> None:
        """After a call: it may have cost more than was expected."""
        for limit in self.limits:
            had = real.of(limit.unit) if limit.scope is Scope.CALL else self._had(limit)
            if had > limit.most:
                self._trip(limit, had, 0)

    def alerts(self) -> Iterator[Alert]:
        """Those that are new, and written down."""
        for limit in self.limits:
            if limit.scope is Scope.CALL:
                continue
            had, base = _tally(self.connection, limit.scope, self.account.key(limit.scope), limit.unit)
            yield from self._new(limit, had, base, passed(limit, had))

    def _new(self, limit: Limit, had: int, base: int, percents: Iterable[int]) -> Iterator[Alert]:
        key = self.account.key(limit.scope)
        for percent in percents:
            made = self.connection.execute(
                "INSERT OR IGNORE INTO alert (scope, key, unit, percent, most, base, spent, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (limit.scope, key, limit.unit, percent, limit.most, base, had, self.account.at),
            )
            if made.rowcount:
                yield Alert(limit, key, percent, had)

    def _trip(self, limit: Limit, shown: int, asked: int) -> Breaker:
        key = self.account.key(limit.scope)
        breaker = Breaker(limit, key, self.account.at, shown, asked)
        trip(self.connection, breaker)
        if limit.scope is not Scope.CALL:
            base = _tally(self.connection, limit.scope, key, limit.unit)[1]
            list(self._new(limit, shown, base, (100,)))
        return breaker

    def _had(self, limit: Limit) -> int:
        if limit.scope is Scope.CALL:
            return 0
        return spent(self.connection, limit.scope, self.account.key(limit.scope), limit.unit)

    def _now(self, old: Limit) -> Limit | None:
        return next((one for one in self.limits if (one.scope, one.unit) == (old.scope, old.unit)), None)

    def _exempt(self, old: Limit) -> bool:
        """Limits of money do not count for a model that nobody pays for: that it runs is no reason to end their breakers."""
        return old.unit is Unit.MONEY and not any(one.unit is Unit.MONEY for one in self.limits)


def _tally(connection: Connection, scope: Scope, key: str, unit: Unit) -> tuple[int, int]:
    row = connection.execute(
        "SELECT spent - base, base FROM tally WHERE scope = ? AND key = ? AND unit = ?", (scope, key, unit)
    ).fetchone()
    return row or (0, 0)


def _booked(connection: Connection, account: Account, scope: Scope) -> Charge:
    rows = connection.execute("SELECT project, task, parent, at, worst, estimated + reserve FROM call WHERE state = 'booked'")
    fits = [
        Charge(worst, tokens)
        for project, task, parent, at, worst, tokens in rows
        if Account(project, parent or task, at).key(scope) == account.key(scope)
    ]
    return Charge(sum(one.money for one in fits), sum(one.tokens for one in fits))


def _breaker(row: tuple[str, str, str, int, float, int, int]) -> Breaker:
    scope, key, unit, most, at, had, asked = row
    return Breaker(Limit(Scope(scope), Unit(unit), most), key, at, had, asked)
