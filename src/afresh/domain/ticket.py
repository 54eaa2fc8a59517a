"""A task as the queue tells of it."""

from dataclasses import dataclass

from afresh.domain.task import TaskStatus


@dataclass(frozen=True, slots=True)
class QueueTicket:
    """A task's line in the queue; kept by the store in the same commit as the journal, so that they cannot disagree."""

    task: str
    goal: str
    type: str
    status: TaskStatus
    priority: int
    needs: tuple[str, ...]
    ready: bool
    """Status READY, or RUNNING without a living owner, and all it needs is DONE or APPLIED."""
    owner: str = ""
    """Worker that holds a live lease."""
    parent: str = ""
    """The task that it is a part of; such a one is never ready by itself."""
