"""All that is known of the replayed runs, as nouns and as JSON."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from afresh.domain.price import Price
from afresh.replay.measure import Moment, Need
from afresh.replay.money import Bill
from afresh.replay.needed import NAME
from afresh.replay.run import Run, RunStep
from afresh.replay.totals import Recall, Total, together

PLACES = {"said": "a person's words", "thought": "a thought", "action": "an action", "observation": "an output"}


@dataclass(frozen=True, slots=True)
class Measured:
    """One run. Its texts are gone: a folder of sessions need not fit into memory."""

    run: Run
    moments: tuple[Moment, ...]
    total: Total
    price: Price | None = None
    bill: Bill | None = None


@dataclass(frozen=True, slots=True)
class Report:
    budget: int
    runs: tuple[Measured, ...]
    problems: tuple[str, ...] = ()
    unpriced: str = ""
    """Why some runs have no price; empty if all have one."""

    @property
    def total(self) -> Total:
        return together(one.total for one in self.runs)

    @property
    def bill(self) -> Bill | None:
        """Of the runs whose price is known."""
        bills = [one.bill for one in self.runs if one.bill]
        return sum(bills, Bill()) if bills else None


@dataclass(frozen=True, slots=True)
class Loss:
    """A step whose action needed something that our context did not hold."""

    run: str
    step: int
    need: Need
    others: int

    @property
    def words(self) -> str:
        ago = "1 step" if self.need.age == 1 else f"{self.need.age} steps"
        more = f", and {self.others} more" if self.others else ""
        return f"last seen {ago} before, in {PLACES[self.need.part]}{more}"


def slim(moment: Moment) -> Moment:
    """Without its texts."""
    return replace(moment, context="", step=RunStep("", moment.step.tool, "", "", tokens=moment.reported))


def losses(report: Report) -> list[Loss]:
    """Steps with something missing, the most missing first; of each the name or line that was seen last."""
    found = [
        Loss(one.run.id, moment.number, _telling(moment.missing), len(moment.missing) - 1)
        for one in report.runs
        for moment in one.moments
        if moment.missing
    ]
    return sorted(found, key=lambda loss: (-loss.others, loss.need.age, loss.run, loss.step))


def _telling(missing: Sequence[Need]) -> Need:
    return min(missing, key=lambda need: (need.kind != NAME, need.age, need.text))


def report_json(report: Report) -> dict[str, Any]:
    return {
        "budget": report.budget,
        "total": total_json(report.total),
        "money": asdict(report.bill) if report.bill else None,
        "unpriced": report.unpriced,
        "problems": list(report.problems),
        "runs": [_run_json(one) for one in report.runs],
    }


def total_json(total: Total) -> dict[str, Any]:
    plain = asdict(total) | {"saving": round(total.saving, 4), "ratio": round(total.ratio, 2)}
    return plain | {"names": recall_json(total.names), "lines": recall_json(total.lines)}


def recall_json(recall: Recall) -> dict[str, Any]:
    return asdict(recall) | {"share": _rounded(recall.share), "window_share": _rounded(recall.window_share)}


def _rounded(share: float | None) -> float | None:
    return None if share is None else round(share, 4)


def _run_json(one: Measured) -> dict[str, Any]:
    return {
        **{name: getattr(one.run, name) for name in ("id", "agent", "model", "task", "path")},
        "problems": list(one.run.problems),
        "price": asdict(one.price) if one.price else None,
        "money": asdict(one.bill) if one.bill else None,
        "total": total_json(one.total),
        "steps": [_moment_json(moment) for moment in one.moments],
    }


def _moment_json(moment: Moment) -> dict[str, Any]:
    counted = {name: getattr(moment, name) for name in ("theirs", "ours", "window", "reported", "call", "fits")}
    return {"step": moment.number, "tool": moment.step.tool, **counted, "needs": [asdict(need) for need in moment.needs]}
