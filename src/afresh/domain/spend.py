"""What calls of models are for and what they cost."""

from dataclasses import dataclass
from enum import StrEnum

from afresh.domain.action import Reply
from afresh.errors import AfreshError


class CallPurpose(StrEnum):
    """What a call is made for. Each kind has a ceiling of its own; the limits of spending count for all of them."""

    WORK = "work"
    SUMMARY = "summary"
    HEARTBEAT = "heartbeat"
    MEMORY = "memory"
    DELEGATE = "delegate"


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

    def book(self, call: CallBooking) -> str:
        return ""

    def settle(self, booked: str, reply: Reply) -> int | None:
        """Nobody knows."""

    def cancel(self, booked: str, fault: AfreshError) -> None:
        """Nobody asks."""


UNLIMITED_LEDGER = UnlimitedLedger()
