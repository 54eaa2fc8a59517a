"""Whether one policy is better than another beyond noise: paired differences with a bootstrap interval over runs."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from afresh.evolve.score_runs import RunScore, StepScore

RESAMPLES = 2_000
LOWER_QUANTILE = 0.025
UPPER_QUANTILE = 0.975
MIN_RUNS_TO_DRAW = 5
"""With fewer runs, blocks of steps are drawn instead: the interval then says nothing about other runs."""
BLOCK_STEPS = 10
MAX_RECALL_LOSS = 0.005
"""Half a point: a smaller loss of recall counts as none where tokens fall."""
MAX_TOKEN_GAIN = 0.01
"""One part in a hundred more tokens count as the same where recall rises."""


@dataclass(frozen=True, slots=True)
class Interval:
    value: float
    low: float
    high: float

    @property
    def is_above_zero(self) -> bool:
        return self.low > 0

    @property
    def is_below_zero(self) -> bool:
        return self.high < 0


@dataclass(frozen=True, slots=True)
class Totals:
    steps: int
    tokens: float
    """Of a call, on average."""
    names: float
    lines: float
    """The part that was held of what was needed."""
    recall: float
    """Of names and lines together."""
    drawn: float = 0.0
    """The part of what the policy chose that replies drew on; 0 where that is not known."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """A candidate compared with the policy in use, on runs that it was not tuned on. Tokens as a part of those before."""

    runs: int
    before: Totals
    after: Totals
    recall: Interval
    """Of all names and lines that were needed."""
    names: Interval
    lines: Interval
    tokens: Interval
    drawn: Interval
    """Of what was chosen, the part that replies drew on, relative to the part before."""
    unit: str = "runs"
    """What was drawn at random."""

    @property
    def recall_holds(self) -> bool:
        """Whether no more than a little can be lost of all, and nothing for certain of names or lines."""
        return self.recall.low >= -MAX_RECALL_LOSS and not self.names.is_below_zero and not self.lines.is_below_zero

    @property
    def recall_rises(self) -> bool:
        return self.recall.is_above_zero and self.recall_holds and self.tokens.value <= MAX_TOKEN_GAIN

    @property
    def tokens_fall(self) -> bool:
        return self.tokens.is_below_zero and self.recall_holds

    @property
    def is_better(self) -> bool:
        return self.recall_rises or self.tokens_fall

    @property
    def verdict(self) -> str:
        if self.recall_rises and self.tokens_fall:
            return "recall rises and tokens fall"
        if self.recall_rises:
            return "recall rises at the same budget"
        if self.tokens_fall:
            return "tokens fall at the same recall"
        if not self.recall_holds:
            return "recall may fall"
        return "no difference beyond noise"


def compare_scores(
    before: Sequence[RunScore], after: Sequence[RunScore], seed: int = 0, resamples: int = RESAMPLES
) -> Comparison:
    """Both are scores of the same runs, in the same order."""
    by_runs = len(before) >= MIN_RUNS_TO_DRAW
    pairs = [
        (one.steps[at : at + size], other.steps[at : at + size])
        for one, other in zip(before, after, strict=True)
        for size in [max(1, len(one.steps)) if by_runs else BLOCK_STEPS]
        for at in range(0, len(one.steps), size)
    ]
    sums = [(_add_steps(one), _add_steps(other)) for one, other in pairs]
    whole = _compare_sums(sums)
    draws, rng = list[tuple[float, ...]](), Random(seed)
    for _ in range(resamples if sums else 0):
        draws.append(_compare_sums(rng.choices(sums, k=len(sums))))
    found = [_bound(value, sorted(draw[at] for draw in draws)) for at, value in enumerate(whole)]
    before_totals, after_totals = (_to_totals([sum_pair[at] for sum_pair in sums]) for at in (0, 1))
    unit = "runs" if by_runs else f"{BLOCK_STEPS} steps"
    recall, names, lines, tokens, drawn = found
    return Comparison(len(before), before_totals, after_totals, recall, names, lines, tokens, drawn, unit)


_StepSums = tuple[float, ...]


def _add_steps(steps: Sequence[StepScore]) -> _StepSums:
    return (
        len(steps),
        sum(step.tokens for step in steps),
        sum(step.names for step in steps),
        sum(step.names_held for step in steps),
        sum(step.lines for step in steps),
        sum(step.lines_held for step in steps),
        sum(step.chosen for step in steps),
        sum(step.drawn for step in steps),
    )


def _compare_sums(sums: Sequence[tuple[_StepSums, _StepSums]]) -> tuple[float, ...]:
    one, other = (_to_totals([pair[at] for pair in sums]) for at in (0, 1))
    tokens = other.tokens / one.tokens - 1 if one.tokens else 0.0
    drawn = other.drawn / one.drawn - 1 if one.drawn else 0.0
    return other.recall - one.recall, other.names - one.names, other.lines - one.lines, tokens, drawn


def _to_totals(sums: Sequence[_StepSums]) -> Totals:
    columns = [sum(column) for column in zip(*sums, strict=True)] if sums else [0.0] * 8
    steps, tokens, names, names_held, lines, lines_held, chosen, drawn = columns
    return Totals(
        int(steps),
        tokens / steps if steps else 0.0,
        names_held / names if names else 1.0,
        lines_held / lines if lines else 1.0,
        (names_held + lines_held) / (names + lines) if names + lines else 1.0,
        drawn / chosen if chosen else 0.0,
    )


def _bound(value: float, draws: Sequence[float]) -> Interval:
    if not draws:
        return Interval(value, value, value)
    last = len(draws) - 1
    return Interval(value, draws[round(LOWER_QUANTILE * last)], draws[round(UPPER_QUANTILE * last)])
