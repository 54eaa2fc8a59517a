"""A person beside the work: how closely they follow it, and what they say and do between two steps."""

from enum import StrEnum

from afresh.core.archived_block import BlockIndexLine
from afresh.core.change import Hunk
from afresh.core.decision import Decision
from afresh.core.fact import Fact
from afresh.core.fast_dataclass import dataclass
from afresh.core.line_region import Region
from afresh.core.states.strategy_state import PlanItem
from afresh.core.step_history import Summary

AUTONOMOUS_MODE = "autonomous"
SUPERVISED_MODE = "supervised"
INTERACTIVE_MODE = "interactive"
NEW_DIRECTION_QUESTION = "Where to from here?"
"""What a new direction answers, though nobody has asked."""
APPROVE_OPTION = 1
"""The option of a pause that lets it go on as it would."""


@dataclass(frozen=True, slots=True)
class SupervisionModeSet:
    """So closely it is followed from now on, by whoever works on it."""

    mode: str


@dataclass(frozen=True, slots=True)
class PersonSpoke:
    """A person's own words, unasked."""

    text: str
    by: str = "person"
    redirects: bool = False
    """Whether they replace the plan."""


@dataclass(frozen=True, slots=True)
class TurnBegan:
    """A turn of a conversation begins: the task goes on, also one that was done or failed. What the person says follows."""


@dataclass(frozen=True, slots=True)
class StepsUndone:
    """A person takes back `step` and all after it. The tree follows from the state, here or when the task is taken up again."""

    step: int
    snapshot: str
    """Of the tree before it, and what differed from the base then."""
    changed: tuple[str, ...] = ()
    plan: tuple[PlanItem, ...] = ()
    planned: int = 0
    """As they were then."""
    hunks: tuple[Hunk, ...] = ()
    changes: int = 0
    """Steps among them whose changes had been kept."""
    by: str = "person"
    why: str = ""


@dataclass(frozen=True, slots=True)
class RecoveredFromCheckpoint:
    """Memory is as it was at a checkpoint, in short: what was said, done and printed until then is told by the summary and the
    index. Follows `StepsUndone`, which puts back the tree and the plan."""

    step: int
    """The step after which the checkpoint was written."""
    left_step: int
    left_snapshot: str
    """The last step before the recovery, and the tree as it was then: it can be had again from the checkpoint of that step."""
    summary: Summary
    facts: tuple[Fact, ...] = ()
    decisions: tuple[Decision, ...] = ()
    regions: tuple[Region, ...] = ()
    index: tuple[BlockIndexLine, ...] = ()
    archived: int = 0
    by: str = "person"


class PersonAct(StrEnum):
    GO = "go"
    SAY = "say"
    REDIRECT = "redirect"
    UNDO = "undo"
    STOP = "stop"


@dataclass(frozen=True, slots=True)
class PersonRequest:
    """A person's request at a pause."""

    act: PersonAct
    text: str = ""
    steps: int = 0
    """Steps to undo; 0: back to before the last change."""
    option: int = 0
    """Of those that were asked about, counted from 1."""
    by: str = "person"


@dataclass(frozen=True, slots=True)
class SupervisionState:
    """How closely a person follows, and what they have allowed."""

    mode: str = ""
    """Empty: as the user's settings have it."""
    passed: tuple[str, ...] = ()
    """Phases that a person has let it enter."""
    paused: str = ""
    """The phase that it waits to enter."""
    overruled: bool = False
    """A person spoke while a reply waited to be acted on: nothing of it is done."""


INITIAL_SUPERVISION = SupervisionState()
