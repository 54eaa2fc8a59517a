"""The seams to what is kept: journal, queue, facts."""

from collections.abc import Iterator, Sequence
from typing import Protocol

from afresh.core.block import Block
from afresh.core.event import JournalEntry
from afresh.core.project_facts import FactCorrection, FactQuery, ProjectFact
from afresh.core.state import State
from afresh.core.task import QueueTicket


class JournalStore(Protocol):
    """The journal and the archive. One `append` is one durable, atomic commit."""

    def append(self, entries: Sequence[JournalEntry], blocks: Sequence[Block], state: State) -> None:
        """Write entries (of one task, next in its chain), blocks and the state they lead to. Conflict if the head has moved."""
        ...

    def load(self, task: str) -> State:
        """In time that does not depend on the number of steps. BadInput if there is no such task."""
        ...

    def journal(self, task: str) -> Iterator[JournalEntry]:
        """Every entry in order, each checked against the chain."""
        ...

    def read(self, block: str) -> str:
        """A block by its id, or by a prefix of at least six characters that fits only one. KeyError otherwise."""
        ...

    def find(self, prefix: str, task: str) -> Sequence[str]:
        """Ids that begin so, at most a few, of the blocks that this task was the first to keep."""
        ...


class TaskQueue(Protocol):
    def claim(self, worker: str, task: str | None = None) -> str | None:
        """Take this task, or the next ready one: its id, or None if there is none. Exclusive; a dead owner's task is taken over.
        BadInput if the named task is held by a living worker, is over, or waits for others."""
        ...

    def renew(self, worker: str, task: str) -> None:
        """Keep the lease. LeaseLost if somebody else has it."""
        ...

    def release(self, worker: str, task: str) -> None: ...

    def tickets(self) -> Sequence[QueueTicket]: ...


class FactIndex(Protocol):
    """What a project knows beyond the state of one task."""

    def look_up(self, question: FactQuery) -> Sequence[ProjectFact]:
        """Facts that hold, best first; in time that does not grow with their number."""
        ...

    def known(self, name: str) -> Sequence[ProjectFact]:
        """All that ever had this id, whether they hold or not."""
        ...

    def edits(self) -> Sequence[FactCorrection]:
        """What persons have corrected or want forgotten, in order."""
        ...
