"""What the checks said before the task began, and what they say now."""

from dataclasses import replace
from typing import TYPE_CHECKING

from afresh.core.dialogue_state import restarts_counters
from afresh.core.event import BaselineMeasured, ChangeKeptOrReverted, Event, VerdictReached
from afresh.core.fast_dataclass import dataclass
from afresh.core.supervision_state import StepsUndone
from afresh.core.verdict import Baseline, Ruling, Verdict

if TYPE_CHECKING:
    from afresh.core.state import State


@dataclass(frozen=True, slots=True)
class VerificationState:
    """The checks before the first change, the last verdict, and the last one on the tree as it is."""

    baseline: Baseline | None = None
    verdict: Verdict | None = None
    verdict_step: int = 0
    is_undone: bool = False
    """Whether the last verdict was on a change that was reverted."""
    kept_verdict: Verdict | None = None
    kept_step: int = 0
    """The verdict before the undone one, and its step: it holds for the tree as it is."""
    refusals: int = 0
    """Times that the model said it was finished and the harness disagreed."""

    def apply(self, event: Event, state: "State") -> "VerificationState":
        match event:
            case BaselineMeasured():
                return replace(self, baseline=event.baseline)
            case VerdictReached():
                return self._replace_verdict(event)
            case ChangeKeptOrReverted(step, kept=False) if step == self.verdict_step:
                return replace(self, is_undone=True)
            case StepsUndone():
                return VerificationState(self.baseline)
            case _:
                return replace(self, refusals=0) if restarts_counters(event, state) else self

    def _replace_verdict(self, event: VerdictReached) -> "VerificationState":
        refusals = self.refusals + is_refusal(event.verdict)
        new = replace(self, verdict=event.verdict, verdict_step=event.step, refusals=refusals, is_undone=False)
        if self.is_undone or event.step == self.verdict_step:
            return new
        return replace(new, kept_verdict=self.verdict, kept_step=self.verdict_step)

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
