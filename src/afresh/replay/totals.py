"""Sums over the moments of a run, and over runs."""

from collections.abc import Iterable
from dataclasses import dataclass

from afresh.replay.measure import StepMeasurement
from afresh.replay.needed import LINE_KIND, NAME_KIND


@dataclass(frozen=True, slots=True)
class ReferenceRecall:
    """How many things were needed, how many of them our context held, and how many the window of the same size."""

    needed: int = 0
    held: int = 0
    windowed: int = 0

    def __add__(self, other: "ReferenceRecall") -> "ReferenceRecall":
        return ReferenceRecall(self.needed + other.needed, self.held + other.held, self.windowed + other.windowed)

    @property
    def share(self) -> float | None:
        return self.held / self.needed if self.needed else None

    @property
    def window_share(self) -> float | None:
        return self.windowed / self.needed if self.needed else None


@dataclass(frozen=True, slots=True)
class ReplayTotals:
    """Tokens are those of all calls; `reported` is 0 unless the provider's count is known for every one of them."""

    runs: int = 0
    steps: int = 0
    calls: int = 0
    theirs: int = 0
    ours: int = 0
    window: int = 0
    reported: int = 0
    peak_theirs: int = 0
    peak_ours: int = 0
    over: int = 0
    names: ReferenceRecall = ReferenceRecall()
    lines: ReferenceRecall = ReferenceRecall()

    @property
    def saving(self) -> float:
        """The share of tokens that would not have been sent; below zero where ours is more."""
        return 1 - self.ours / self.theirs if self.theirs else 0.0

    @property
    def ratio(self) -> float:
        return self.theirs / self.ours if self.ours else 0.0


def sum_steps(moments: Iterable[StepMeasurement]) -> ReplayTotals:
    moments = list(moments)
    calls = [moment for moment in moments if moment.call]
    known = all(moment.reported for moment in calls)
    return ReplayTotals(
        runs=1,
        steps=len(moments),
        calls=len(calls),
        theirs=sum(moment.theirs for moment in calls),
        ours=sum(moment.ours for moment in calls),
        window=sum(moment.window for moment in calls),
        reported=sum(moment.reported for moment in calls) if known else 0,
        peak_theirs=max((moment.theirs for moment in calls), default=0),
        peak_ours=max((moment.ours for moment in calls), default=0),
        over=sum(not moment.fits for moment in moments),
        names=count_recall(moments, NAME_KIND),
        lines=count_recall(moments, LINE_KIND),
    )


def count_recall(moments: Iterable[StepMeasurement], kind: str) -> ReferenceRecall:
    needs = [need for moment in moments for need in moment.needs if need.kind == kind]
    return ReferenceRecall(len(needs), sum(need.held for need in needs), sum(need.windowed for need in needs))


def add_totals(totals: Iterable[ReplayTotals]) -> ReplayTotals:
    totals = list(totals)
    return ReplayTotals(
        *(sum(getattr(one, name) for one in totals) for name in ("runs", "steps", "calls", "theirs", "ours", "window")),
        reported=sum(one.reported for one in totals) if all(one.reported for one in totals) else 0,
        peak_theirs=max((one.peak_theirs for one in totals), default=0),
        peak_ours=max((one.peak_ours for one in totals), default=0),
        over=sum(one.over for one in totals),
        names=sum((one.names for one in totals), ReferenceRecall()),
        lines=sum((one.lines for one in totals), ReferenceRecall()),
    )
