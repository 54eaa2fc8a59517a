"""What the calls of a task have used and cost."""

from afresh.core.event import Event, MemoryCompacted, ReplyReceived
from afresh.core.fast_dataclass import dataclass
from afresh.core.lesson import LessonWorded
from afresh.core.usage import NO_CALL_COSTS, CallCosts, Usage

NO_USAGE = Usage()


@dataclass(frozen=True, slots=True)
class SpendingState:
    """What calls have used."""

    usage: Usage = NO_USAGE
    costs: CallCosts = NO_CALL_COSTS
    calls: int = 0

    def apply(self, event: Event) -> "SpendingState":
        """One more call, whatever it was for."""
        reply = event.reply if isinstance(event, ReplyReceived | MemoryCompacted | LessonWorded) else None
        if reply is None:
            return self
        return SpendingState(self.usage + reply.usage, self.costs.plus(reply.cost, reply.usage.tokens), self.calls + 1)
