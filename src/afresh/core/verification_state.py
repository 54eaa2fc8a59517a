"""What the checks said before the task began, and what they say now."""

from dataclasses import replace
from typing import TYPE_CHECKING

from afresh.core.dialogue_state import restarts_counters
from afresh.core.event import BaselineMeasured, Event, VerdictReached
from afresh.core.fast_dataclass import dataclass
from afresh.core.supervision_state import StepsUndone
from afresh.core.verdict import Baseline, Ruling, Verdict

if TYPE_CHECKING:
    from afresh.core.state import State


@dataclass(frozen=True, slots=True)
class VerificationState:
    """The checks before the first change, and the last verdict."""

    baseline: Baseline | None = None
    verdict: Verdict | None = None
    verdict_step: int = 0
    refusals: int = 0
    """Times that the model said it was finished and the harness disagreed."""

    def apply(self, event: Event, state: "State") -> "VerificationState":
        match event:
            case BaselineMeasured():
                return replace(self, baseline=event.baseline)
            case VerdictReached():
                refusals = self.refusals + is_refusal(event.verdict)
                return replace(self, verdict=event.verdict, verdict_step=event.step, refusals=refusals)
            case StepsUndone():
                return replace(self, verdict=None, verdict_step=0, refusals=0)
            case _:
                return replace(self, refusals=0) if restarts_counters(event, state) else self

    @property
    def is_green(self) -> bool:
        """Whether something was checked last, and all of it exits 0."""
        return (
            self.verdict is not None
            and bool(self.verdict.runs)
            and self.verdict.ruling is Ruling.PASS
            and not any(run.exit for run in self.verdict.runs)
        )


def is_refusal(verdict: Verdict) -> bool:
    """Whether it refuses a claim of completion."""
    return verdict.final and verdict.ruling is not Ruling.PASS
