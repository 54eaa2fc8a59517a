"""What the calls of a run would cost: input only, since the replies are taken to be the same."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from afresh.domain.price import Price
from afresh.replay.measure import StepMeasurement

TOKENS_PER_PRICE = 1_000_000


@dataclass(frozen=True, slots=True)
class InputCost:
    """Dollars. Ours is never cached, because its text is new with every call: the least favourable case for us."""

    theirs: float = 0.0
    theirs_cached: float = 0.0
    ours: float = 0.0

    def __add__(self, other: "InputCost") -> "InputCost":
        return InputCost(self.theirs + other.theirs, self.theirs_cached + other.theirs_cached, self.ours + other.ours)


def estimate_input_cost(moments: Iterable[StepMeasurement], price: Price, likely: float = 1.0) -> InputCost:
    """`likely` turns the counter's tokens, which err on the high side, into those that a provider would charge.

    Perfect caching reads all of the call before at the cached price and only what is new at the full one.
    """
    theirs, ours = _tokens_of_calls(moments)
    before = [0, *theirs][: len(theirs)]
    cached = sum(old * price.cached + (new - old) * price.input for old, new in zip(before, theirs, strict=True))
    scale = likely / TOKENS_PER_PRICE
    return InputCost(sum(theirs) * price.input * scale, cached * scale, sum(ours) * price.input * scale)


def _tokens_of_calls(moments: Iterable[StepMeasurement]) -> tuple[Sequence[int], Sequence[int]]:
    calls = [(moment.theirs, moment.ours) for moment in moments if moment.call]
    return [theirs for theirs, _ in calls], [ours for _, ours in calls]
