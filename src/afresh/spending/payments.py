from collections.abc import Sequence
from dataclasses import dataclass

from afresh.core.spending import CallBooking, Charge, SpendingAccount, SpendingLimit
from afresh.core.usage import Usage

RESTORED_NOTE = "put back from the journal, at the price of that day"


@dataclass(frozen=True, slots=True)
class PricedBooking:
    """A call, whose it is, and the most that it may take."""

    call: CallBooking
    account: SpendingAccount
    worst: int
    price: str
    """`known`, `unknown` or `free`."""
    worker: str
    limits: Sequence[SpendingLimit]

    @property
    def charge(self) -> Charge:
        return Charge(self.worst, self.call.tokens + self.call.reserve)


@dataclass(frozen=True, slots=True)
class CallPayment:
    """What a call has really taken."""

    usage: Usage
    counted: bool
    paid: int
    paid_input: int
    """Of it, for what was sent."""
    note: str = ""
    """What is odd about it."""

    @property
    def charge(self) -> Charge:
        return Charge(self.paid, self.usage.tokens)


@dataclass(frozen=True, slots=True)
class UnpaidBooking:
    """A call that was never paid."""

    number: int
    task: str
    kind: str
    model: str
    step: int
    estimated: int
    reserve: int
    worst: int
