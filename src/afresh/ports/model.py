"""The seam to models: who answers a call, and the books it is entered in."""

from collections.abc import Callable
from typing import Protocol

from afresh.core.prompt import Request
from afresh.core.rate_limit import CallTurn
from afresh.core.reply import Reply
from afresh.core.spending import CallBooking
from afresh.errors import AfreshError

ReplyListener = Callable[[str], None]


def ignore_piece(piece: str) -> None:
    """A listener that ignores the pieces of a reply."""


class Model(Protocol):
    """Answers one request. Raises TryAgain for a passing fault, NeedsPerson for a missing key and the like."""

    @property
    def name(self) -> str: ...
    @property
    def window(self) -> int:
        """Tokens the model can take in all."""
        ...

    def propose(self, request: Request, hear: ReplyListener = ignore_piece) -> Reply:
        """The reply; `hear` gets its pieces as they come in, if the provider streams."""
        ...

    def weigh(self, request: Request) -> int:
        """Tokens of the request by the provider's own count, which costs nothing; 0 if there is none."""
        ...


class Ledger(Protocol):
    """The books. What every call may cost is booked before it is made; a limit that does not allow it stops the call, and a rate
    limit says when it may begin."""

    def take_turn(self, call: CallBooking) -> CallTurn:
        """When the call may begin."""
        ...

    def end_turn(self, turn: CallTurn, tokens: int) -> None:
        """Report the tokens that the call used; 0: it was not made. Never fails."""
        ...

    def book(self, call: CallBooking) -> str:
        """A name for it. OverLimit if a limit does not allow the worst that it may cost, or one has tripped before."""
        ...

    def settle(self, booked: str, reply: Reply) -> int | None:
        """The real cost in nano-dollars; None if the price is unknown."""
        ...

    def cancel(self, booked: str, fault: AfreshError) -> None:
        """The call brought no reply; the ledger keeps only what the fault says was charged."""
        ...
