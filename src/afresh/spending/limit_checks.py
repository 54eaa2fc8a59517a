"""Whether limits allow a call, which of them it trips, and which alerts the user gets: rules over the records of a ledger."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from afresh.core.ledger import SpendingTally
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


class LimitRecords(Protocol):
    """Sums, tripped limits and alerts, within one transaction of a ledger."""

    def tally(self, account: SpendingAccount, scope: LimitScope, unit: LimitUnit) -> SpendingTally: ...

    def tripped(self, account: SpendingAccount) -> Sequence[TrippedLimit]:
        """Tripped limits that stop this account."""
        ...

    def trip(self, breaker: TrippedLimit) -> None:
        """Record that a limit has tripped; an earlier record of it stays."""
        ...

    def end(self, breaker: TrippedLimit, at: float, why: str) -> None: ...

    def add_alert(self, alert: LimitAlert, base: int, at: float) -> bool:
        """Whether it is new."""
        ...


@dataclass(frozen=True, slots=True)
class LimitCheck:
    """Limits that count for an account, within a transaction."""

    records: LimitRecords
    account: SpendingAccount
    limits: Sequence[SpendingLimit]

    def find_refusal(self, worst: Charge) -> TrippedLimit | None:
        """The reason to stop a call: a limit that tripped before and was not raised since, or one that trips now."""
        for breaker in self.records.tripped(self.account):
            limit = self._limit_now(breaker.limit)
            if limit and limit.most <= breaker.limit.most:
                return breaker
            if limit or not self._is_exempt(breaker.limit):
                self.records.end(breaker, self.account.at, "raised")
        for limit in self.limits:
            asked = worst.of(limit.unit)
            had = self._spent(limit)
            if had + asked > limit.most:
                return self._trip(limit, asked if limit.scope is LimitScope.CALL else had, asked)
        return None

    def check_payment(self, real: Charge) -> list[LimitAlert]:
        """The new alerts after a call, which may have cost more than was expected: then limits trip."""
        alerts = [alert for limit in self.limits if limit.scope is not LimitScope.CALL for alert in self._new_alerts(limit)]
        for limit in self.limits:
            had = real.of(limit.unit) if limit.scope is LimitScope.CALL else self._spent(limit)
            if had > limit.most:
                self._trip(limit, had, 0)
        return alerts

    def _new_alerts(self, limit: SpendingLimit) -> Iterator[LimitAlert]:
        tally = self.records.tally(self.account, limit.scope, limit.unit)
        return self._add_alerts(limit, tally, find_passed_alerts(limit, tally.spent))

    def _add_alerts(self, limit: SpendingLimit, tally: SpendingTally, percents: Iterable[int]) -> Iterator[LimitAlert]:
        for percent in percents:
            alert = LimitAlert(limit, self.account.key(limit.scope), percent, tally.spent)
            if self.records.add_alert(alert, tally.base, self.account.at):
                yield alert

    def _trip(self, limit: SpendingLimit, shown: int, asked: int) -> TrippedLimit:
        breaker = TrippedLimit(limit, self.account.key(limit.scope), self.account.at, shown, asked)
        self.records.trip(breaker)
        if limit.scope is not LimitScope.CALL:
            base = self.records.tally(self.account, limit.scope, limit.unit).base
            list(self._add_alerts(limit, SpendingTally(shown, base), (100,)))
        return breaker

    def _spent(self, limit: SpendingLimit) -> int:
        return 0 if limit.scope is LimitScope.CALL else self.records.tally(self.account, limit.scope, limit.unit).spent

    def _limit_now(self, old: SpendingLimit) -> SpendingLimit | None:
        """The user's own limit of tokens stands in for the default one for unknown prices."""
        units = (old.unit, LimitUnit.TOKENS) if old.unit is LimitUnit.UNPRICED else (old.unit,)
        return next((limit for limit in self.limits if limit.scope is old.scope and limit.unit in units), None)

    def _is_exempt(self, old: SpendingLimit) -> bool:
        """Limits of money do not apply to a free model, nor those of unknown prices to a priced one: its calls end none."""
        return old.unit is not LimitUnit.TOKENS and not any(limit.unit is old.unit for limit in self.limits)
