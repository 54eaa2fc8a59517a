"""What happened, in the past tense. Events are appended, never edited.

A step is two commits: Requested + Replied before acting, all the rest after it. Rebudgeted and Compacted stand between steps.
"""

from dataclasses import dataclass

from afresh.domain.action import Observation, Reply
from afresh.domain.attended import Attended, Paused, Spoke, Undone
from afresh.domain.course import Marked, Noticed
from afresh.domain.delegated import HandedOut
from afresh.domain.fact import Decision, Fact, Hunk, IndexLine, PlanItem, Region
from afresh.domain.lessons import Consulted, Learnt, Referred, Worded
from afresh.domain.meter import Breached, Calibrated, Doubted
from afresh.domain.notes import Corrected, Forgotten, Judged, Noted
from afresh.domain.passage import Passage
from afresh.domain.room import Rebudgeted, Reserved, Wanted
from afresh.domain.strategy import Turned
from afresh.domain.summary import Summary
from afresh.domain.task import Status, Task
from afresh.domain.verdict import Baseline, Verdict
from afresh.domain.weighing import Weighed
from afresh.domain.window import Audit


@dataclass(frozen=True, slots=True)
class Created:
    task: Task


@dataclass(frozen=True, slots=True)
class Claimed:
    """A worker took the task. It moves the head, so whoever held the task before can write no more."""

    worker: str


@dataclass(frozen=True, slots=True)
class Opened:
    base: str
    """Commit of the user's repository that the work starts from."""
    branch: str
    snapshot: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Baselined:
    baseline: Baseline


@dataclass(frozen=True, slots=True)
class Requested:
    step: int
    audit: Audit


@dataclass(frozen=True, slots=True)
class Replied:
    step: int
    reply: Reply


@dataclass(frozen=True, slots=True)
class Acted:
    step: int
    observations: tuple[Observation, ...]


@dataclass(frozen=True, slots=True)
class Planned:
    items: tuple[PlanItem, ...]


@dataclass(frozen=True, slots=True)
class Asked:
    question: str
    options: tuple[str, ...] = ()
    """Each "option: what it would mean", or the option alone."""
    by: str = "model"
    """Or the harness, when it can't go on by itself."""


@dataclass(frozen=True, slots=True)
class Answered:
    """A person's own words, or those of the option that was chosen by its number."""

    text: str
    by: str = "person"
    """Their name, where it is known."""
    option: int = 0
    """Which of the options it is, counted from 1; 0 for words that are none of them."""


@dataclass(frozen=True, slots=True)
class Decided:
    decision: Decision


@dataclass(frozen=True, slots=True)
class Digested:
    facts: tuple[Fact, ...] = ()
    regions: tuple[Region, ...] = ()
    index: tuple[IndexLine, ...] = ()
    passages: tuple[Passage, ...] = ()


@dataclass(frozen=True, slots=True)
class Verified:
    step: int
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Settled:
    """The workspace after the step: `snapshot` is the new one when kept, the one before when reverted."""

    step: int
    kept: bool
    snapshot: str
    changed: tuple[str, ...] = ()
    """All files that now differ from the base."""
    why: str = ""
    hunks: tuple[Hunk, ...] = ()


@dataclass(frozen=True, slots=True)
class Finished:
    step: int
    outcome: str


@dataclass(frozen=True, slots=True)
class Ended:
    """The task has come to rest in `status`; BLOCKED can go on later, the others are over."""

    status: Status
    reason: str
    commit: str = ""


@dataclass(frozen=True, slots=True)
class Checkpointed:
    """All that is known is written down in full, for whoever goes on from here. Always the last event of its commit."""

    step: int
    reason: str


@dataclass(frozen=True, slots=True)
class CompactionWanted:
    """The agent has come to the end of something: what lies behind it can be put away."""

    keep: str


@dataclass(frozen=True, slots=True)
class Compacted:
    """Memory let passages go and keeps a summary of them. Between steps, in one commit."""

    step: int
    by: str
    """`loop` when memory was nearly full, or `agent`."""
    gone: tuple[int, ...]
    """Their places among the passages of the state."""
    summary: Summary
    tokens_won: int
    """Roughly: four characters of passages each."""
    reply: Reply | None = None
    """What a model wrote, if one was asked; paid for, whether it was used or not."""
    note: str = ""
    """Why what the model wrote was not used, and what a hook had to say."""


Event = (
    Created | Claimed | Opened | Baselined | Requested | Replied | Acted | Planned | Asked
    | Answered | Decided | Digested | Verified | Settled | Finished | Ended
    | Calibrated | Breached | Doubted | Wanted | Rebudgeted | Checkpointed | CompactionWanted | Compacted
    | Noted | Corrected | Forgotten | Judged
    | Consulted | Referred | Worded | Learnt | Weighed
    | Turned | Attended | Paused | Spoke | Undone | HandedOut | Marked | Noticed
    | Reserved
)  # fmt: skip


def logged(event: Event) -> bool:
    """Whether the decision log has a line for it."""
    if isinstance(event, Verified):
        return event.verdict.final
    if isinstance(event, Planned):
        return bool(event.items) and not any(item.done for item in event.items)
    kinds = Asked | Answered | Decided | Settled | Ended | Breached | Doubted | Rebudgeted | Checkpointed | Compacted
    return isinstance(event, kinds | Noticed | Turned | Spoke | Undone | Reserved)


KINDS: dict[str, type[Event]] = {
    "Created": Created,
    "Claimed": Claimed,
    "Opened": Opened,
    "Baselined": Baselined,
    "Requested": Requested,
    "Replied": Replied,
    "Acted": Acted,
    "Planned": Planned,
    "Asked": Asked,
    "Answered": Answered,
    "Decided": Decided,
    "Digested": Digested,
    "Verified": Verified,
    "Settled": Settled,
    "Finished": Finished,
    "Ended": Ended,
    "Calibrated": Calibrated,
    "Breached": Breached,
    "Doubted": Doubted,
    "Wanted": Wanted,
    "Rebudgeted": Rebudgeted,
    "Checkpointed": Checkpointed,
    "CompactionWanted": CompactionWanted,
    "Compacted": Compacted,
    "Noted": Noted,
    "Corrected": Corrected,
    "Forgotten": Forgotten,
    "Judged": Judged,
    "Consulted": Consulted,
    "Referred": Referred,
    "Worded": Worded,
    "Learnt": Learnt,
    "Weighed": Weighed,
    "Turned": Turned,
    "Attended": Attended,
    "Paused": Paused,
    "Spoke": Spoke,
    "Undone": Undone,
    "HandedOut": HandedOut,
    "Marked": Marked,
    "Noticed": Noticed,
    "Reserved": Reserved,
}
"""The tag of each kind on disk. A class may be renamed; its tag never changes, or journals could not be read any more."""
TAGS: dict[type[Event], str] = {kind: tag for tag, kind in KINDS.items()}


@dataclass(frozen=True, slots=True)
class Head:
    """Where a task's journal ends."""

    seq: int = 0
    hash: str = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """An event in its place in a task's journal."""

    task: str
    seq: int
    at: float
    event: Event
    body: str
    """The canonical JSON that was hashed; kept so that what is stored is what was hashed."""
    hash: str
