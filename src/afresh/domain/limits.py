"""How much may be spent: by call, task, project, day, month and in total, in money and in tokens."""

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from enum import StrEnum

NANO = 1_000_000_000
"""Money is counted in nano-dollars."""
ALERTS = (50, 80, 100)
"""Percent of a limit at which a person is told, once each."""


class Scope(StrEnum):
    CALL = "call"
    TASK = "task"
    PROJECT = "project"
    DAY = "day"
    MONTH = "month"
    TOTAL = "total"

    @property
    def everybody(self) -> bool:
        """Once it has tripped nothing at all calls a model."""
        return self in (Scope.DAY, Scope.MONTH, Scope.TOTAL)


class Unit(StrEnum):
    MONEY = "money"
    TOKENS = "tokens"

    def words(self, amount: int) -> str:
        return dollars(amount) if self is Unit.MONEY else f"{amount:,} tokens"


@dataclass(frozen=True, slots=True)
class Limit:
    scope: Scope
    unit: Unit
    most: int
    """Nano-dollars, or tokens."""
    own: bool = True
    """Set by the user, and not merely what holds where nothing is set."""

    @property
    def key(self) -> str:
        """What it is called in the settings."""
        return self.scope.value if self.unit is Unit.MONEY else f"{self.scope}_tokens"

    @property
    def words(self) -> str:
        whose = {Scope.CALL: "for one call", Scope.TASK: "for one task", Scope.PROJECT: "for the project", Scope.DAY: "a day",
                 Scope.MONTH: "a month", Scope.TOTAL: "in total"}[self.scope]  # fmt: skip
        return f"{self.unit.words(self.most)} {whose}"


@dataclass(frozen=True, slots=True)
class Limits:
    """The user's own: dollars, and tokens that are sent and replied. What is not set has the limit of `UNLESS_TOLD`, or none."""

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

    def __iter__(self) -> Iterator[Limit]:
        """Those that hold, the narrowest first."""
        for one in fields(self):
            scope, _, tokens = one.name.partition("_")
            said: float | int | None = getattr(self, one.name)
            amount = UNLESS_TOLD.get(one.name) if said is None else said
            if amount is not None:
                unit = Unit.TOKENS if tokens else Unit.MONEY
                yield Limit(Scope(scope), unit, round(amount * (1 if tokens else NANO)), own=said is not None)


UNLESS_TOLD: Mapping[str, float] = {"call": 1.0, "task": 5.0, "day": 20.0, "month": 200.0}
"""So that whoever has a key and goes to bed is not afraid of the bill. Hundreds of calls with a 4,000-token ceiling cost about
five dollars with a dear model; a call of more than one dollar is one that nobody meant."""


@dataclass(frozen=True, slots=True)
class Account:
    """Whose limits count for a call, and when."""

    project: str
    task: str
    """Whoever pays for it: a delegate's calls are its parent's."""
    at: float

    def key(self, scope: Scope) -> str:
        """Under which its sum stands. A day is one of the person's own clock."""
        match scope:
            case Scope.CALL | Scope.TASK:
                return f"{self.project}/{self.task}"
            case Scope.PROJECT:
                return self.project
            case Scope.DAY:
                return time.strftime("%Y-%m-%d", time.localtime(self.at))
            case Scope.MONTH:
                return time.strftime("%Y-%m", time.localtime(self.at))
            case Scope.TOTAL:
                return ""


@dataclass(frozen=True, slots=True)
class Charge:
    """What a call takes, or may take."""

    money: int = 0
    tokens: int = 0

    def of(self, unit: Unit) -> int:
        return self.money if unit is Unit.MONEY else self.tokens

    def __sub__(self, other: "Charge") -> "Charge":
        return Charge(self.money - other.money, self.tokens - other.tokens)


@dataclass(frozen=True, slots=True)
class Alert:
    """A limit that is used to this part: told once."""

    limit: Limit
    key: str
    percent: int
    spent: int

    @property
    def words(self) -> str:
        of = f" (task {self.key.partition('/')[2]})" if self.limit.scope is Scope.TASK else ""
        if self.percent >= ALERTS[-1]:
            return f"the limit of {self.limit.words}{of} is reached: {self.limit.unit.words(self.spent)} spent or booked"
        return f"{self.percent} % of the limit of {self.limit.words}{of} used: {self.limit.unit.words(self.spent)}"


@dataclass(frozen=True, slots=True)
class Breaker:
    """A limit that was reached. It lets nothing through until a person raises or resets it."""

    limit: Limit
    key: str
    at: float
    spent: int
    """When it tripped, with all that was booked."""
    asked: int = 0
    """What the call might have cost that it has stopped; 0 if one cost more than expected."""

    @property
    def words(self) -> str:
        show = self.limit.unit.words
        if self.limit.scope is Scope.CALL:
            return f"the limit of {self.limit.words} is reached: a call {'may take' if self.asked else 'took'} {show(self.spent)}"
        asked = f", and the next call may take {show(self.asked)}" if self.asked else ""
        return f"the limit of {self.limit.words} is reached: {show(self.spent)} spent or booked{asked}"


def passed(limit: Limit, spent: int) -> list[int]:
    """The percentages at which somebody is to be told."""
    return [percent for percent in ALERTS if spent > 0 and spent * 100 >= limit.most * percent]


def dollars(amount: int) -> str:
    """In cents; small sums with as many digits as it takes to see them."""
    value = amount / NANO
    if not amount or abs(value) >= 0.1:
        return f"${value:,.2f}"
    return f"${value:.4f}" if abs(value) >= 0.0001 else f"${value:.7f}"
