"""A finished step, as later prompts and pages for people may show it, and what became of it."""

from dataclasses import replace
from enum import StrEnum

from afresh.core.action import Observation
from afresh.core.change import Hunk
from afresh.core.event import ChangeKeptOrReverted
from afresh.core.fast_dataclass import dataclass
from afresh.core.line_region import shift_regions
from afresh.core.states.supervision_state import StepsUndone
from afresh.core.tool_traits import ToolTrait, has_trait
from afresh.core.truncate import to_one_line
from afresh.core.verdict import Ruling, Verdict, name_check_run, sum_check_runs


class StepFate(StrEnum):
    """How a step ended: it only read, or its change was kept, reverted or undone."""

    LOOKED = "looked"
    """Nothing was changed."""
    KEPT = "kept"
    UNDONE = "undone"
    REFUSED = "refused"
    """A change could not be made, or the claim to be done was not accepted."""
    VERIFIED = "verified"
    """The task is done."""


TO_REFUSE = (ToolTrait.WRITES, ToolTrait.COMPLETES, ToolTrait.DELEGATES)
MAX_JUDGED_CHARACTERS = 300


@dataclass(frozen=True, slots=True)
class StepRecord:
    """A finished step, as later prompts may show it."""

    step: int
    thought: str
    observations: tuple[Observation, ...]
    outcome: str
    kept: bool
    reverted: str = ""
    """What a step had done that the harness reverted."""
    checks: tuple[str, ...] = ()
    """Names of the checks that ran after it, as the outcome has them."""
    put_back: bool = False
    """Something that it, or an earlier step, did to tests was put back."""
    fate: StepFate | None = None
    """No prompt shows it."""
    judged: str = ""
    """What the checks said: counts of tests for a change that was kept, else the reason. No prompt shows it."""

    def list_after_change(self) -> tuple[Observation, ...]:
        """What was seen after its last action that may have changed files: it is of the tree as the step left it."""
        changing = [
            place
            for place, seen in enumerate(self.observations)
            if has_trait(seen.action, ToolTrait.CHANGES) and not seen.regions
        ]
        return self.observations[max(changing, default=-1) + 1 :]


def move_lines_read(step: StepRecord, hunks: tuple[Hunk, ...]) -> StepRecord:
    """The step with the lines that it had read before its change where they are now."""
    late = step.list_after_change()
    early = step.observations[: len(step.observations) - len(late)]
    moved = [replace(seen, regions=shift_regions(seen.regions, hunks)) if seen.regions else seen for seen in early]
    return replace(step, observations=(*moved, *late)) if hunks else step


def find_first_fate(observations: tuple[Observation, ...]) -> StepFate:
    """Before anything is known of the tree: an edit that failed was refused, a command that failed was only looked at."""
    failed = [seen for seen in observations if not seen.ok and has_trait(seen.action, *TO_REFUSE)]
    return StepFate.REFUSED if failed else StepFate.LOOKED


def record_verdict(step: StepRecord, verdict: Verdict) -> StepRecord:
    checks, passes = tuple([name_check_run(run) for run in verdict.runs]), verdict.ruling is Ruling.PASS
    fate = StepFate.LOOKED if passes else step.fate  # what of it was kept is not refused, if an edit failed beside it
    if verdict.final:
        fate = StepFate.VERIFIED if passes else StepFate.REFUSED
    counts = passes and verdict.runs and not verdict.final
    words = sum_check_runs(verdict.runs).words if counts else to_one_line(verdict.reason, MAX_JUDGED_CHARACTERS)
    return replace(step, checks=checks, fate=fate, judged=words)


def record_keeping(step: StepRecord, event: ChangeKeptOrReverted, before: str) -> StepRecord:
    """`before`: the snapshot of the tree when the step began."""
    fate = step.fate
    if not event.kept:
        fate = StepFate.UNDONE
    elif event.snapshot != before and not (fate is StepFate.VERIFIED or (fate is StepFate.REFUSED and step.judged)):
        fate = StepFate.KEPT
    return replace(step, kept=event.kept, put_back=bool(event.put_back), fate=fate)


def mark_step_undone(step: StepRecord, event: StepsUndone) -> StepRecord:
    return replace(step, kept=False, fate=StepFate.UNDONE, judged=to_one_line(f"by a person: {event.why}".rstrip(": "), 200))
