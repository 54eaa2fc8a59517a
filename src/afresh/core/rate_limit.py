"""How many calls of a model or provider may begin in a minute, and with how many tokens; for all workers of a user together."""

from collections.abc import Iterable, Sequence

from afresh.core.fast_dataclass import dataclass

WINDOW_SECONDS = 61.0
"""A minute, and what may pass between a turn and the request that is sent in it."""


@dataclass(frozen=True, slots=True)
class RateLimit:
    name: str
    """`provider:model`, or a provider for all of its models together."""
    requests: int = 0
    """Requests in a minute; 0: any number."""
    tokens: int = 0
    """Sent and replied in a minute; 0: any number."""

    def covers(self, model: str) -> bool:
        return model == self.name or model.startswith(f"{self.name}:")

    @property
    def words(self) -> str:
        amounts = [f"{amount:,} {unit}" for amount, unit in ((self.requests, "requests"), (self.tokens, "tokens")) if amount]
        return f"{' and '.join(amounts)} a minute for {self.name}"


@dataclass(frozen=True, slots=True)
class TakenTurn:
    """A call that has begun within the last minute, or will."""

    model: str
    at: float
    tokens: int


@dataclass(frozen=True, slots=True)
class CallTurn:
    """When a call may begin."""

    number: int = 0
    """0: no limit covers it."""
    wait: float = 0.0
    """Seconds from now."""
    limit: str = ""
    """The limit that it waits for, in words."""


IMMEDIATE_TURN = CallTurn()


def find_turn(now: float, taken: Iterable[TakenTurn], limits: Sequence[RateLimit], call: TakenTurn) -> tuple[float, str]:
    """The time at which this call may begin so that no minute has more than its limits allow, and the limit that makes it wait.
    Turns are given in the order in which they are asked for. A call with more tokens than a whole minute's begins alone."""
    covering = [limit for limit in limits if limit.covers(call.model)]
    shared = sorted((turn for turn in taken if any(limit.covers(turn.model) for limit in covering)), key=lambda turn: turn.at)
    at, why = max([now, *(turn.at for turn in shared[-1:])]), ""
    while True:
        free = {
            limit: _find_free_time([turn for turn in shared if limit.covers(turn.model)], limit, at, call) for limit in covering
        }
        last = max(free, key=lambda limit: free[limit], default=None)
        if last is None or free[last] <= at:
            return at, why or (covering[0].words if at > now else "")
        at, why = free[last], last.words


def _find_free_time(taken: Sequence[TakenTurn], limit: RateLimit, at: float, call: TakenTurn) -> float:
    """When enough of these, sorted by time, are a minute old; not before `at`."""
    for turn in (one for one in taken if one.at + WINDOW_SECONDS > at):
        recent = [other for other in taken if other.at + WINDOW_SECONDS > at]
        tokens = sum(other.tokens for other in recent) + call.tokens
        if (not limit.requests or len(recent) < limit.requests) and (not limit.tokens or tokens <= limit.tokens):
            break
        at = turn.at + WINDOW_SECONDS
    return at
