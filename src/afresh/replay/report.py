"""All that is known of the replayed runs, as nouns and as JSON."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, TypeVar

from afresh.core.cache_rates import CacheRates
from afresh.replay.measure_run import LINE_KIND, NAME_KIND, NeededReference, StepMeasurement
from afresh.replay.run import RecordedRun, RecordedStep
from afresh.spending.price_list import Price

TOKENS_PER_PRICE = 1_000_000
T = TypeVar("T", "InputCost", "PaidTokens")


def add_up(kind: type[T], parts: Sequence[T]) -> T:
    """Field by field."""
    return kind(*(sum(getattr(part, each.name) for part in parts) for each in fields(kind)))


@dataclass(frozen=True, slots=True)
class InputCost:
    """Dollars, without a cache and with a perfect one."""

    theirs: float = 0.0
    theirs_cached: float = 0.0
    ours: float = 0.0
    ours_cached: float = 0.0


@dataclass(frozen=True, slots=True)
class PaidTokens:
    """Tokens of all calls, weighed by what a cache makes of their price."""

    theirs: int = 0
    ours: int = 0

    @property
    def saving(self) -> float:
        """Below zero where ours would have been paid more."""
        return 1 - self.ours / self.theirs if self.theirs else 0.0


def count_paid_tokens(moments: Iterable[StepMeasurement], rates: CacheRates) -> PaidTokens:
    """A kept history has all of the call before in the cache; ours what the two contexts begin with. System text and tools come
    before both and are longer than what providers cache at least, so no minimum applies here."""
    whole, paid, before = replace(rates, minimum=0), list[PaidTokens](), 0
    for moment in moments:
        if moment.call:
            theirs, ours = whole.estimate_usage(moment.theirs, before), whole.estimate_usage(moment.ours, moment.same)
            paid.append(PaidTokens(whole.count_paid_tokens(theirs), whole.count_paid_tokens(ours)))
            before = moment.theirs
    return add_up(PaidTokens, paid)


def estimate_input_cost(moments: Iterable[StepMeasurement], price: Price, likely: float = 1.0) -> InputCost:
    """`likely` turns the counter's tokens, which err on the high side, into those that a provider would charge.

    Perfect caching reads all of the call before at the cached price and only what is new at the full one.
    """
    calls = [moment for moment in moments if moment.call]
    theirs, ours = [moment.theirs for moment in calls], [moment.ours for moment in calls]
    scale = likely / TOKENS_PER_PRICE

    def add_up(tokens: Sequence[int], cached: Sequence[int]) -> float:
        return (sum(tokens) * price.input - sum(cached) * (price.input - price.cached)) * scale

    return InputCost(
        theirs=add_up(theirs, ()),
        theirs_cached=add_up(theirs, theirs[:-1]),
        ours=add_up(ours, ()),
        ours_cached=add_up(ours, [moment.same for moment in calls]),
    )


@dataclass(frozen=True, slots=True)
class ReferenceRecall:
    """How many things were needed, how many of them our context held, and how many the window of the same size."""

    needed: int = 0
    held: int = 0
    windowed: int = 0

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


def sum_steps(moments: Sequence[StepMeasurement], runs: int = 1) -> ReplayTotals:
    calls = [moment for moment in moments if moment.call]
    known = all(moment.reported for moment in calls)
    return ReplayTotals(
        runs=runs,
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


STEP_PART_WORDS = {"said": "a person's words", "thought": "a thought", "action": "an action", "observation": "an output"}


@dataclass(frozen=True, slots=True)
class RunMeasurement:
    """One run without its texts: a folder of sessions need not fit into memory."""

    run: RecordedRun
    moments: tuple[StepMeasurement, ...]
    total: ReplayTotals
    price: Price | None = None
    bill: InputCost | None = None
    paid: PaidTokens = PaidTokens()


@dataclass(frozen=True, slots=True)
class ReplayReport:
    budget: int
    """Tokens of a prompt that is built new."""
    bound: int
    """Tokens of a prompt that was kept and extended."""
    runs: tuple[RunMeasurement, ...]
    problems: tuple[str, ...] = ()
    unpriced: str = ""
    """Why some runs have no price; empty if all have one."""

    @property
    def total(self) -> ReplayTotals:
        return sum_steps([moment for run in self.runs for moment in run.moments], len(self.runs))

    @property
    def paid(self) -> PaidTokens:
        return add_up(PaidTokens, [run.paid for run in self.runs])

    @property
    def bill(self) -> InputCost | None:
        """The cost of the runs whose price is known."""
        bills = [run.bill for run in self.runs if run.bill]
        return add_up(InputCost, bills) if bills else None


@dataclass(frozen=True, slots=True)
class MissedReference:
    """A step whose action needed something that our context did not hold."""

    run: str
    step: int
    need: NeededReference
    others: int

    @property
    def words(self) -> str:
        ago = "1 step" if self.need.age == 1 else f"{self.need.age} steps"
        more = f", and {self.others} more" if self.others else ""
        return f"last seen {ago} before, in {STEP_PART_WORDS[self.need.part]}{more}"


def drop_texts(moment: StepMeasurement) -> StepMeasurement:
    """The measurement without its texts."""
    return replace(moment, context="", step=RecordedStep("", moment.step.tool, "", "", tokens=moment.reported))


def list_missed_references(report: ReplayReport) -> list[MissedReference]:
    """Steps with something missing, the most missing first; of each the name or line that was seen last."""
    references = [
        MissedReference(run.run.id, moment.number, _choose_telling_reference(moment.missing), len(moment.missing) - 1)
        for run in report.runs
        for moment in run.moments
        if moment.missing
    ]
    return sorted(references, key=lambda loss: (-loss.others, loss.need.age, loss.run, loss.step))


def _choose_telling_reference(missing: Sequence[NeededReference]) -> NeededReference:
    return min(missing, key=lambda need: (need.kind != NAME_KIND, need.age, need.text))


def report_to_json(report: ReplayReport) -> dict[str, Any]:
    return {
        "budget": report.budget,
        "bound": report.bound,
        "total": totals_to_json(report.total),
        "paid": paid_to_json(report.paid),
        "money": asdict(report.bill) if report.bill else None,
        "unpriced": report.unpriced,
        "problems": list(report.problems),
        "runs": [
            {**run_to_json(run), "problems": list(run.run.problems), "steps": [_step_to_json(moment) for moment in run.moments]}
            for run in report.runs
        ],
    }


def totals_to_json(total: ReplayTotals) -> dict[str, Any]:
    plain = asdict(total) | {"saving": round(total.saving, 4), "ratio": round(total.ratio, 2)}
    return plain | {"names": recall_to_json(total.names), "lines": recall_to_json(total.lines)}


def paid_to_json(paid: PaidTokens) -> dict[str, Any]:
    return asdict(paid) | {"saving": round(paid.saving, 4)}


def recall_to_json(recall: ReferenceRecall) -> dict[str, Any]:
    return asdict(recall) | {"share": _round_share(recall.share), "window_share": _round_share(recall.window_share)}


def _round_share(share: float | None) -> float | None:
    return None if share is None else round(share, 4)


def run_to_json(measurement: RunMeasurement) -> dict[str, Any]:
    """The measurement of a run, without its steps."""
    return {
        **{name: getattr(measurement.run, name) for name in ("id", "agent", "model", "task", "path")},
        "price": asdict(measurement.price) if measurement.price else None,
        "money": asdict(measurement.bill) if measurement.bill else None,
        "total": totals_to_json(measurement.total),
        "paid": paid_to_json(measurement.paid),
    }


def _step_to_json(moment: StepMeasurement) -> dict[str, Any]:
    counted = {name: getattr(moment, name) for name in ("theirs", "ours", "same", "window", "reported", "call", "fits")}
    return {"step": moment.number, "tool": moment.step.tool, **counted, "needs": [asdict(need) for need in moment.needs]}
