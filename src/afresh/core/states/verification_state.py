"""What the checks said before the task began, and what they say now."""

from dataclasses import replace
from typing import TYPE_CHECKING

from afresh.core.event import (
    BaselineMeasured,
    ChangeKeptOrReverted,
    Event,
    QuestionAnswered,
    QuestionAsked,
    VerdictReached,
)
from afresh.core.fast_dataclass import dataclass
from afresh.core.leave import MAX_REVIEWS, ChangeReviewed, Grant, LeaveGiven, add_grants
from afresh.core.states.dialogue_state import ACCEPT_OPTION, is_agreement, restarts_counters
from afresh.core.states.supervision_state import StepsUndone
from afresh.core.verdict import Baseline, Ruling, Verdict

if TYPE_CHECKING:
    from afresh.core.state import State

MAX_FLAKY_TESTS = 20
"""Tests found to be flaky that a state names."""


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
    leave: tuple[Grant, ...] = ()
    """What of that which judges it the task may change."""
    offered: tuple[Grant, ...] = ()
    """What the first option of the open question would add to it."""
    reviews: tuple[ChangeReviewed, ...] = ()
    """What a reviewer has said of changes, without the replies."""
    accepted: str = ""
    """Who has taken the work as it is, as their last word."""
    unallowed: int = 0
    """Times that completion was refused for changes without leave, since the last word of a person."""
    flaky: tuple[str, ...] = ()
    """Tests that failed after a change, and passed when they were run again."""
    baseline_step: int = 0
    """The step whose reply waited for the baseline; 0: it was measured before any call."""

    def apply(self, event: Event, state: "State") -> "VerificationState":
        match event:
            case BaselineMeasured():
                pending = state.work.pending
                return replace(self, baseline=event.baseline, baseline_step=pending.step if pending else 0)
            case VerdictReached():
                return self._replace_verdict(event)
            case ChangeKeptOrReverted():
                return replace(self, is_undone=self.is_undone or (not event.kept and event.step == self.verdict_step))
            case StepsUndone():
                return VerificationState(
                    self.baseline, leave=self.leave, reviews=self.reviews, flaky=self.flaky, baseline_step=self.baseline_step
                )
            case LeaveGiven():
                return replace(self, leave=add_grants(self.leave, event.changes))
            case ChangeReviewed():
                return replace(self, reviews=(*self.reviews, replace(event, reply=None))[-MAX_REVIEWS:])
            case QuestionAsked():
                return replace(self, offered=event.about)
            case _:
                return self._restart(event, state.dialogue.options) if restarts_counters(event, state) else self

    def _restart(self, event: Event, options: tuple[str, ...]) -> "VerificationState":
        """A person has spoken. The first option of a question about tests, or a plain yes, allows what it asks for."""
        agreed = isinstance(event, QuestionAnswered) and (event.option == 1 or (not event.option and is_agreement(event.text)))
        leave = add_grants(self.leave, self.offered) if agreed else self.leave
        chosen = options[event.option - 1 : event.option] if isinstance(event, QuestionAnswered) and event.option else ()
        accepted = event.by if isinstance(event, QuestionAnswered) and ACCEPT_OPTION in chosen else ""
        return replace(self, refusals=0, unallowed=0, offered=(), leave=leave, accepted=accepted)

    def _replace_verdict(self, event: VerdictReached) -> "VerificationState":
        refusals = self.refusals + is_refusal(event.verdict)
        new = replace(
            self,
            verdict=event.verdict,
            verdict_step=event.step,
            refusals=refusals,
            is_undone=False,
            unallowed=self.unallowed + bool(event.verdict.unallowed),
            flaky=tuple(dict.fromkeys((*self.flaky, *event.verdict.flaky)))[-MAX_FLAKY_TESTS:],
        )
        if self.is_undone or event.step == self.verdict_step:
            return new
        return replace(new, kept_verdict=self.verdict, kept_step=self.verdict_step)

    @property
    def is_green(self) -> bool:
        """Whether something was checked last, and all of it exits 0 or fails as it did before the task."""
        return (
            self.verdict is not None
            and bool(self.verdict.runs)
            and self.verdict.ruling is Ruling.PASS
            and all(run.holds for run in self.verdict.runs)
        )


def is_refusal(verdict: Verdict) -> bool:
    """Whether it refuses a claim of completion."""
    return verdict.final and verdict.ruling in (Ruling.FAIL, Ruling.BLOCKED)
