"""Sums, tripped limits and alerts of the ledger, within one transaction."""

from collections.abc import Iterable
from dataclasses import dataclass
from sqlite3 import Connection

from afresh.core.ledger import LedgerCall, SpendingTally
from afresh.core.spending import Charge, LimitAlert, LimitScope, LimitUnit, SpendingAccount, SpendingLimit, TrippedLimit
from afresh.spending.limit_checks import SUMMED_SCOPES

ADD_TO_TALLY_SQL = (
    "INSERT INTO tally (scope, key, unit, spent) VALUES (?, ?, ?, ?)"
    " ON CONFLICT (scope, key, unit) DO UPDATE SET spent = spent + excluded.spent"
)
TRIPPED_SQL = "SELECT scope, key, unit, most, at, spent, asked FROM breaker WHERE ended IS NULL"
STOPS_ACCOUNT_SQL = (
    " AND (scope IN ('day', 'month', 'total') OR (scope IN ('call', 'task') AND key = ?) OR (scope = 'project' AND key = ?))"
)


@dataclass(frozen=True, slots=True)
class SqliteLimitRecords:
    connection: Connection

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
            "INSERT OR IGNORE INTO breaker (scope, key, unit, most, spent, asked, at) VALUES (?, ?, ?, ?, ?, ?, ?)", row
        )

    def end(self, breaker: TrippedLimit, at: float, why: str) -> None:
        self.connection.execute(
            "UPDATE breaker SET ended = ?, why = ? WHERE scope = ? AND key = ? AND unit = ? AND ended IS NULL",
            (at, why, breaker.limit.scope, breaker.key, breaker.limit.unit),
        )

    def add_alert(self, alert: LimitAlert, base: int, at: float) -> bool:
        limit = alert.limit
        made = self.connection.execute(
            "INSERT OR IGNORE INTO alert (scope, key, unit, percent, most, base, spent, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (limit.scope, alert.key, limit.unit, alert.percent, limit.most, base, alert.spent, at),
        )
        return made.rowcount > 0

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
