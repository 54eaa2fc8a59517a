"""All that is known of the replayed runs, as nouns and as JSON."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from afresh.domain.price import Price
from afresh.replay.measure import StepMeasurement, NeededReference
from afresh.replay.money import InputCost
from afresh.replay.needed import NAME_KIND
from afresh.replay.run import RecordedRun, RecordedStep
from afresh.replay.totals import ReferenceRecall, ReplayTotals, add_totals

STEP_PART_WORDS = {"said": "a person's words", "thought": "a thought", "action": "an action", "observation": "an output"}


@dataclass(frozen=True, slots=True)
class RunMeasurement:
    """One run. Its texts are gone: a folder of sessions need not fit into memory."""

    run: RecordedRun
    moments: tuple[StepMeasurement, ...]
    total: ReplayTotals
    price: Price | None = None
    bill: InputCost | None = None


@dataclass(frozen=True, slots=True)
class ReplayReport:
    budget: int
    runs: tuple[RunMeasurement, ...]
    problems: tuple[str, ...] = ()
    unpriced: str = ""
    """Why some runs have no price; empty if all have one."""

    @property
    def total(self) -> ReplayTotals:
        return add_totals(one.total for one in self.runs)

    @property
    def bill(self) -> InputCost | None:
        """Of the runs whose price is known."""
        bills = [one.bill for one in self.runs if one.bill]
        return sum(bills, InputCost()) if bills else None


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
    """Without its texts."""
    return replace(moment, context="", step=RecordedStep("", moment.step.tool, "", "", tokens=moment.reported))


def list_missed_references(report: ReplayReport) -> list[MissedReference]:
    """Steps with something missing, the most missing first; of each the name or line that was seen last."""
    found = [
        MissedReference(one.run.id, moment.number, _choose_telling_reference(moment.missing), len(moment.missing) - 1)
        for one in report.runs
        for moment in one.moments
        if moment.missing
    ]
    return sorted(found, key=lambda loss: (-loss.others, loss.need.age, loss.run, loss.step))


def _choose_telling_reference(missing: Sequence[NeededReference]) -> NeededReference:
    return min(missing, key=lambda need: (need.kind != NAME_KIND, need.age, need.text))


def report_to_json(report: ReplayReport) -> dict[str, Any]:
    return {
        "budget": report.budget,
        "total": totals_to_json(report.total),
        "money": asdict(report.bill) if report.bill else None,
        "unpriced": report.unpriced,
        "problems": list(report.problems),
        "runs": [_run_to_json(one) for one in report.runs],
    }


def totals_to_json(total: ReplayTotals) -> dict[str, Any]:
    plain = asdict(total) | {"saving": round(total.saving, 4), "ratio": round(total.ratio, 2)}
    return plain | {"names": recall_to_json(total.names), "lines": recall_to_json(total.lines)}


def recall_to_json(recall: ReferenceRecall) -> dict[str, Any]:
    return asdict(recall) | {"share": _round_share(recall.share), "window_share": _round_share(recall.window_share)}


def _round_share(share: float | None) -> float | None:
    return None if share is None else round(share, 4)


def _run_to_json(one: RunMeasurement) -> dict[str, Any]:
    return {
        **{name: getattr(one.run, name) for name in ("id", "agent", "model", "task", "path")},
        "problems": list(one.run.problems),
        "price": asdict(one.price) if one.price else None,
        "money": asdict(one.bill) if one.bill else None,
        "total": totals_to_json(one.total),
        "steps": [_step_to_json(moment) for moment in one.moments],
    }


def _step_to_json(moment: StepMeasurement) -> dict[str, Any]:
    counted = {name: getattr(moment, name) for name in ("theirs", "ours", "window", "reported", "call", "fits")}
    return {"step": moment.number, "tool": moment.step.tool, **counted, "needs": [asdict(need) for need in moment.needs]}
