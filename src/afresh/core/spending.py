"""How much may be spent: by call, task, project, day, month and in total, in money and in tokens."""

import time
from collections.abc import Iterator, Mapping
from dataclasses import fields
from enum import StrEnum

from afresh.core.fast_dataclass import dataclass
from afresh.core.rate_limit import IMMEDIATE_TURN, CallTurn
from afresh.core.reply import Reply
from afresh.core.usage import NANO_PER_DOLLAR, format_dollars
from afresh.errors import AfreshError

ALERT_PERCENTAGES = (50, 80, 100)
"""Percent of a limit at which a person is told, once each."""


class LimitScope(StrEnum):
    CALL = "call"
    TASK = "task"
    PROJECT = "project"
    DAY = "day"
    MONTH = "month"
    TOTAL = "total"

    @property
    def everybody(self) -> bool:
        """Once it has tripped nothing at all calls a model."""
        return self in (LimitScope.DAY, LimitScope.MONTH, LimitScope.TOTAL)


class LimitUnit(StrEnum):
    MONEY = "money"
    TOKENS = "tokens"
    UNPRICED = "unpriced"
    """Tokens of calls whose price is unknown: no limit of money can count them."""

    def words(self, amount: int) -> str:
        if self is LimitUnit.MONEY:
            return format_dollars(amount)
        return f"{amount:,} tokens" + (" of unknown price" if self is LimitUnit.UNPRICED else "")


@dataclass(frozen=True, slots=True)
class SpendingLimit:
    scope: LimitScope
    unit: LimitUnit
    most: int
    """Nano-dollars, or tokens."""
    own: bool = True
    """Whether the user has set it; otherwise it is a default."""

    @property
    def key(self) -> str:
        """Its key in the settings."""
        return self.scope.value if self.unit is LimitUnit.MONEY else f"{self.scope}_tokens"

    @property
    def words(self) -> str:
        whose = {
            LimitScope.CALL: "for one call",
            LimitScope.TASK: "for one task",
            LimitScope.PROJECT: "for the project",
            LimitScope.DAY: "a day",
            LimitScope.MONTH: "a month",
            LimitScope.TOTAL: "in total",
        }[self.scope]
        return f"{self.unit.words(self.most)} {whose}"


@dataclass(frozen=True, slots=True)
class SpendingLimits:
    """Of the user: dollars, and tokens sent and replied. What is not set has its limit of `DEFAULT_LIMITS_DOLLARS`, or none."""

    call: float | None = None
    task: float | None = None
    project: float | None = None
    day: float | None = None
    month: float | None = None
    total: float | None = None
    call_tokens: int | None = None
    task_tokens: int | None = None
    project_tokens: int | None = None
    day_tokens: int | None = None
    month_tokens: int | None = None
    total_tokens: int | None = None

    def __iter__(self) -> Iterator[SpendingLimit]:
        """The limits that are set, the narrowest first."""
        for field in fields(self):
            scope, _, tokens = field.name.partition("_")
            said: float | int | None = getattr(self, field.name)
            amount = DEFAULT_LIMITS_DOLLARS.get(field.name) if said is None else said
            if amount is not None:
                unit = LimitUnit.TOKENS if tokens else LimitUnit.MONEY
                yield SpendingLimit(
                    LimitScope(scope), unit, round(amount * (1 if tokens else NANO_PER_DOLLAR)), own=said is not None
                )

    @property
    def unpriced(self) -> tuple[SpendingLimit, ...]:
        """Default limits for models without a known price, where the user has set no limit of tokens."""
        unset = [scope for scope in UNPRICED_LIMITS_TOKENS if getattr(self, f"{scope}_tokens") is None]
        return tuple(SpendingLimit(scope, LimitUnit.UNPRICED, UNPRICED_LIMITS_TOKENS[scope], own=False) for scope in unset)

    def tokens_without_price(self, scope: LimitScope) -> int:
        """Tokens that models without a known price may use."""
        own: int | None = getattr(self, f"{scope}_tokens")
        return UNPRICED_LIMITS_TOKENS[scope] if own is None else own


UNPRICED_LIMITS_TOKENS: Mapping[LimitScope, int] = {LimitScope.TASK: 2_000_000, LimitScope.DAY: 8_000_000}
"""Instead of limits of money where a price is unknown. At 3 dollars a million they come to 6 and 24 dollars."""
DEFAULT_LIMITS_DOLLARS: Mapping[str, float] = {"call": 1.0, "task": 5.0, "day": 20.0, "month": 200.0}
"""So that whoever has a key and goes to bed is not afraid of the bill. Hundreds of calls with a 4,000-token ceiling cost about
five dollars with a dear model; a call of more than one dollar is one that nobody meant."""


@dataclass(frozen=True, slots=True)
class SpendingAccount:
    """Whose limits count for a call, and when."""

    project: str
    task: str
    """Whoever pays for it: a delegate's calls are its parent's."""
    at: float

    def key(self, scope: LimitScope) -> str:
        """Under which its sum stands. A day is one of the person's own clock."""
        match scope:
            case LimitScope.CALL | LimitScope.TASK:
                return f"{self.project}/{self.task}"
            case LimitScope.PROJECT:
                return self.project
            case LimitScope.DAY:
                return time.strftime("%Y-%m-%d", time.localtime(self.at))
            case LimitScope.MONTH:
                return time.strftime("%Y-%m", time.localtime(self.at))
            case LimitScope.TOTAL:
                return ""


@dataclass(frozen=True, slots=True)
class Charge:
    """The cost of a call, real or possible."""

    money: int = 0
    tokens: int = 0
    unpriced: int = 0
    """Tokens of unknown price."""

    def of(self, unit: LimitUnit) -> int:
        return {LimitUnit.MONEY: self.money, LimitUnit.TOKENS: self.tokens, LimitUnit.UNPRICED: self.unpriced}[unit]

    def __sub__(self, other: "Charge") -> "Charge":
        return Charge(self.money - other.money, self.tokens - other.tokens, self.unpriced - other.unpriced)


@dataclass(frozen=True, slots=True)
class LimitAlert:
    """A limit that is used to this part: told once."""

    limit: SpendingLimit
    key: str
    percent: int
    spent: int

    @property
    def words(self) -> str:
        of = f" (task {self.key.partition('/')[2]})" if self.limit.scope is LimitScope.TASK else ""
        if self.percent >= ALERT_PERCENTAGES[-1]:
            return f"the limit of {self.limit.words}{of} is reached: {self.limit.unit.words(self.spent)} spent or booked"
        return f"{self.percent} % of the limit of {self.limit.words}{of} used: {self.limit.unit.words(self.spent)}"


@dataclass(frozen=True, slots=True)
class TrippedLimit:
    """A limit that was reached. It lets nothing through until a person raises or resets it."""

    limit: SpendingLimit
    key: str
    at: float
    spent: int
    """When it tripped, with all that was booked."""
    asked: int = 0
    """What the call might have cost that it has stopped; 0 if one cost more than expected."""

    @property
    def words(self) -> str:
        show = self.limit.unit.words
        if self.limit.scope is LimitScope.CALL:
            return f"the limit of {self.limit.words} is reached: a call {'may take' if self.asked else 'took'} {show(self.spent)}"
        asked = f", and the next call may take {show(self.asked)}" if self.asked else ""
        return f"the limit of {self.limit.words} is reached: {show(self.spent)} spent or booked{asked}"


def find_passed_alerts(limit: SpendingLimit, spent: int) -> list[int]:
    """The percentages at which somebody is to be told."""
    return [percent for percent in ALERT_PERCENTAGES if spent > 0 and spent * 100 >= limit.most * percent]


class CallPurpose(StrEnum):
    """What a call is made for. Each kind has a ceiling of its own; the limits of spending count for all of them."""

    WORK = "work"
    SUMMARY = "summary"
    HEARTBEAT = "heartbeat"
    CHECK = "check"
    """`afresh models check`."""
    MEMORY = "memory"
    DELEGATE = "delegate"
    REVIEW = "review"
    """Whether a person's words ask for a change of a test."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallBooking:
    """A call that is about to be made: whose it is, and the most that it may take."""

    task: str
    project: str
    kind: CallPurpose
    model: str
    step: int = 0
    ceiling: int
    """Tokens for all that is sent and the reply."""
    tokens: int
    """Our estimate of what is sent."""
    reserve: int
    """The longest reply, what it thinks included."""
    sections: tuple[tuple[str, int], ...] = ()
    """Estimated tokens of each part of what is sent."""
    parent: str = ""
    """The task that pays for it, if this one does a part of its work."""

    @property
    def payer(self) -> str:
        return self.parent or self.task


class UnlimitedLedger:
    """Books nothing and allows all: for models that nobody pays for, and where there is no ledger."""

    def take_turn(self, call: CallBooking) -> CallTurn:
        return IMMEDIATE_TURN

    def end_turn(self, turn: CallTurn, tokens: int) -> None:
        """Nobody waits."""

    def book(self, call: CallBooking) -> str:
        return ""

    def settle(self, booked: str, reply: Reply) -> int | None:
        """Nobody knows."""

    def cancel(self, booked: str, fault: AfreshError) -> None:
        """Nobody asks."""


UNLIMITED_LEDGER = UnlimitedLedger()
