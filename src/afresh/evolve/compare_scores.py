"""Whether one policy is better than another beyond noise: paired differences with a bootstrap interval over runs. A comparison
on work that a proposal was not made from is its proof."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from random import Random

RESAMPLES = 2_000
LOWER_QUANTILE = 0.025
UPPER_QUANTILE = 0.975
MIN_RUNS_TO_DRAW = 5
"""With fewer runs, blocks of steps are drawn instead: the interval then says nothing about other runs."""
BLOCK_STEPS = 10
MIN_JUDGED = 3
"""Runs: with fewer there is no proof."""
MAX_RECALL_LOSS = 0.005
"""Half a point: a smaller loss of recall counts as none where tokens fall."""
MAX_TOKEN_GAIN = 0.01
"""One part in a hundred more tokens count as the same where recall rises."""
TOO_LITTLE = "too little recorded work to judge it"


@dataclass(frozen=True, slots=True)
class StepScore:
    tokens: int
    names: int = 0
    names_held: int = 0
    lines: int = 0
    lines_held: int = 0
    chosen: int = 0
    """Tokens of the sections that are a choice of the policy."""
    drawn: float = 0.0
    """Tokens of these that the reply used."""


@dataclass(frozen=True, slots=True)
class RunScore:
    run: str
    steps: tuple[StepScore, ...]
    """Also those whose action refers to nothing: every call costs its tokens."""


@dataclass(frozen=True, slots=True)
class Interval:
    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Totals:
    tokens: float
    """Mean tokens of a call."""
    names: float
    lines: float
    """The part that was held of what was needed."""
    recall: float
    """Recall of names and lines together."""
    drawn: float = 0.0
    """The part of what the policy chose that replies drew on."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """A candidate compared with the policy in use. Tokens and `drawn` as a part of those before."""

    runs: int
    before: Totals
    after: Totals
    recall: Interval
    """Recall of all needed names and lines."""
    names: Interval
    lines: Interval
    tokens: Interval
    drawn: Interval
    unit: str = "runs"
    """The unit that the test draws at random."""

    @property
    def recall_holds(self) -> bool:
        """Whether no more than a little can be lost of all, and nothing for certain of names or lines."""
        return self.recall.low >= -MAX_RECALL_LOSS and self.names.high >= 0 and self.lines.high >= 0

    @property
    def recall_rises(self) -> bool:
        return self.recall.low > 0 and self.recall_holds and self.tokens.value <= MAX_TOKEN_GAIN

    @property
    def tokens_fall(self) -> bool:
        return self.tokens.high < 0 and self.recall_holds

    @property
    def is_better(self) -> bool:
        return self.runs >= MIN_JUDGED and (self.recall_rises or self.tokens_fall)

    @property
    def verdict(self) -> str:
        if self.runs < MIN_JUDGED:
            return TOO_LITTLE
        if self.recall_rises and self.tokens_fall:
            return "recall rises and tokens fall"
        if self.recall_rises:
            return "recall rises at the same budget"
        if self.tokens_fall:
            return "tokens fall at the same recall"
        if not self.recall_holds:
            return "recall may fall"
        return "no difference beyond noise"

    def __str__(self) -> str:
        before, after = self.before, self.after
        text = (
            f"recall {before.recall:.1%} → {after.recall:.1%} ({_format_points(self.recall)} points), "
            f"tokens {before.tokens:,.0f} → {after.tokens:,.0f} ({_format_points(self.tokens)} %)"
        )
        drawn = f", drawn on {before.drawn:.1%} → {after.drawn:.1%} ({_format_points(self.drawn)} %)"
        return text + (drawn if before.drawn or after.drawn else "")


def _format_points(interval: Interval) -> str:
    return f"{100 * interval.low:+.1f} to {100 * interval.high:+.1f}"


def comparison_to_json(comparison: Comparison) -> str:
    return json.dumps(asdict(comparison), sort_keys=True)


def comparison_from_json(text: str) -> Comparison:
    plain = json.loads(text)
    intervals = {name: Interval(**plain[name]) for name in ("recall", "names", "lines", "tokens", "drawn")}
    before, after = Totals(**plain["before"]), Totals(**plain["after"])
    return Comparison(runs=plain["runs"], before=before, after=after, **intervals, unit=plain["unit"])


def compare_scores(before: Sequence[RunScore], after: Sequence[RunScore], resamples: int = RESAMPLES) -> Comparison:
    """Both are scores of the same runs, in the same order. The same scores give the same result."""
    by_runs = len(before) >= MIN_RUNS_TO_DRAW
    sums = [
        (_add_steps(score.steps[at : at + size]), _add_steps(other.steps[at : at + size]))
        for score, other in zip(before, after, strict=True)
        for size in [max(1, len(score.steps)) if by_runs else BLOCK_STEPS]
        for at in range(0, len(score.steps), size)
    ]
    rng = Random(0)
    draws = [_compare_sums(rng.choices(sums, k=len(sums))) for _ in range(resamples if sums else 0)]
    intervals = [_bound(value, sorted(draw[at] for draw in draws)) for at, value in enumerate(_compare_sums(sums))]
    before_totals, after_totals = (_to_totals([pair[at] for pair in sums]) for at in (0, 1))
    return Comparison(len(before), before_totals, after_totals, *intervals, unit="runs" if by_runs else f"{BLOCK_STEPS} steps")


_StepSums = tuple[float, ...]


def _add_steps(steps: Sequence[StepScore]) -> _StepSums:
    rows = [(1, step.tokens, step.names, step.names_held, step.lines, step.lines_held, step.chosen, step.drawn) for step in steps]
    return tuple(map(sum, zip(*rows, strict=True)))


def _compare_sums(sums: Sequence[tuple[_StepSums, _StepSums]]) -> tuple[float, ...]:
    totals, other = (_to_totals([pair[at] for pair in sums]) for at in (0, 1))
    tokens = other.tokens / totals.tokens - 1 if totals.tokens else 0.0
    drawn = other.drawn / totals.drawn - 1 if totals.drawn else 0.0
    return other.recall - totals.recall, other.names - totals.names, other.lines - totals.lines, tokens, drawn


def _to_totals(sums: Sequence[_StepSums]) -> Totals:
    columns = [sum(column) for column in zip(*sums, strict=True)] if sums else [0.0] * 8
    steps, tokens, names, names_held, lines, lines_held, chosen, drawn = columns
    return Totals(
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
