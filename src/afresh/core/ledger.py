"""Calls as the ledger keeps them: booked at the worst they may cost, then paid or cancelled."""

from collections.abc import Sequence
from enum import StrEnum

from afresh.core.fast_dataclass import dataclass
from afresh.core.spending import CallBooking, Charge, SpendingAccount, SpendingLimit
from afresh.core.usage import Usage

UNKNOWN_PRICE = "unknown"
LOST_REPLY_NOTE = "the reply is lost; counted at its worst"
RESTORED_NOTE = "put back from the journal, at the price of that day"


class CallStatus(StrEnum):
    BOOKED = "booked"
    SETTLED = "settled"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class PricedBooking:
    """A call, whose it is, and the most that it may take."""

    call: CallBooking
    account: SpendingAccount
    worst: int
    """Nano-dollars."""
    price: str
    """`known`, `unknown` or `free`."""
    worker: str
    limits: Sequence[SpendingLimit] = ()

    @property
    def charge(self) -> Charge:
        return self._charge(self.worst, self.call.tokens + self.call.reserve)

    def charge_payment(self, payment: "CallPayment") -> Charge:
        """What the call has really taken."""
        return self._charge(payment.paid, payment.usage.tokens)

    def _charge(self, money: int, tokens: int) -> Charge:
        return Charge(money, tokens, tokens if self.price == UNKNOWN_PRICE else 0)


@dataclass(frozen=True, slots=True)
class CallPayment:
    """The real cost of a call."""

    usage: Usage
    counted: bool
    paid: int
    """Nano-dollars."""
    paid_input: int
    """Of it, for what was sent."""
    note: str = ""
    """A remark on an unusual payment."""


@dataclass(frozen=True, slots=True)
class LedgerCall:
    """A row of the ledger."""

    number: int
    status: CallStatus
    booking: PricedBooking
    payment: CallPayment
    """All zero until it is settled."""

    @property
    def charge(self) -> Charge:
        """What is booked and not paid yet counts at its worst."""
        return self.booking.charge if self.status is CallStatus.BOOKED else self.booking.charge_payment(self.payment)

    @property
    def is_open(self) -> bool:
        """Booked, and its reply not given up for lost."""
        return self.status is CallStatus.BOOKED and not self.payment.note


@dataclass(frozen=True, slots=True)
class SpendingFilter:
    """Calls since a moment, of one project or of all, of one task with its parts or of all."""

    since: float = 0.0
    project: str = ""
    task: str = ""
    only_booked: bool = False
    """Those that are not paid yet; otherwise all that were not cancelled."""


@dataclass(frozen=True, slots=True)
class SpendingTally:
    """The sum of all calls under one key of a limit; what is booked counts at its worst."""

    spent: int = 0
    """Since a person last reset the limit."""
    base: int = 0
    """Spent before that."""

    @property
    def total(self) -> int:
        return self.base + self.spent
