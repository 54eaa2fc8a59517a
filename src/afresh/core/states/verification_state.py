"""What the checks said before the task began, and what they say now."""

from typing import TYPE_CHECKING

from afresh.core.fast_dataclass import dataclass
from afresh.core.leave import ChangeReviewed, Grant
from afresh.core.verdict import Baseline, Ruling, Verdict

if TYPE_CHECKING:
    pass

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
    run_whole: tuple[str, ...] = ()
    """Checks of which single test files fail alone, whatever is changed: each step runs all of them."""
    baseline_step: int = 0
    """The step whose reply waited for the baseline; 0: it was measured before any call."""

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
