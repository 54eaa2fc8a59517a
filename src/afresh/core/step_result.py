"""What comes of an action."""

from afresh.core.action import Action
from afresh.core.archived_block import Block
from afresh.core.change import Change
from afresh.core.event import Event, QuestionAsked
from afresh.core.fact import Fact
from afresh.core.fast_dataclass import dataclass
from afresh.core.line_region import Region
from afresh.core.verdict import Ruling, Verdict


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """What a tool gives back: raw text for the archive and what else happened."""

    text: str
    ok: bool = True
    events: tuple[Event, ...] = ()
    regions: tuple[Region, ...] = ()
    facts: tuple[Fact, ...] = ()
    traces: bool = False
    """A command ran that may have left files behind without meaning to change the tree."""
    complete: str = ""
    """The model's claim to be finished, with its summary: the harness verifies it."""
    refused: bool = False
    """The harness did not do it: it had been done often enough."""


@dataclass(frozen=True, slots=True)
class ActionResult:
    action: Action
    outcome: ToolOutcome


@dataclass(frozen=True, slots=True)
class StepActions:
    """All actions of one reply, and the tree after them."""

    done: tuple[ActionResult, ...]
    snapshot: str
    changes: tuple[Change, ...] = ()

    @property
    def events(self) -> tuple[Event, ...]:
        """A question comes last: what else the reply has decided was decided before the answer."""
        events = [event for deed in self.done for event in deed.outcome.events]
        return tuple(sorted(events, key=lambda event: isinstance(event, QuestionAsked)))

    @property
    def complete(self) -> str:
        return next((deed.outcome.complete for deed in self.done if deed.outcome.complete), "")


@dataclass(frozen=True, slots=True)
class StepVerification:
    verdict: Verdict | None = None
    blocks: tuple[Block, ...] = ()

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        return (self.verdict,) if self.verdict else ()

    @property
    def regressed(self) -> bool:
        return self.verdict is not None and self.verdict.ruling is Ruling.FAIL and not self.verdict.final

    @property
    def refused(self) -> bool:
        return self.verdict is not None and self.verdict.final and self.verdict.ruling is Ruling.FAIL

    @property
    def passed(self) -> bool:
        return self.verdict is not None and self.verdict.final and self.verdict.ruling is Ruling.PASS


@dataclass(frozen=True, slots=True)
class KeepOrRevertResult:
    kept: bool
    snapshot: str
    events: tuple[Event, ...]
    blocks: tuple[Block, ...] = ()


@dataclass(frozen=True, slots=True)
class StepConclusion:
    outcome: str
    events: tuple[Event, ...] = ()
    reverted: str = ""
    """What was done, of a step that was reverted."""
