"""Apart from events, so that a state can be read from its snapshot without them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class JournalHead:
    """Where a task's journal ends."""

    seq: int = 0
    hash: str = ""
