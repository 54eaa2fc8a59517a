"""The seam to whoever sits beside the work."""

from typing import Protocol

from afresh.domain.attended import Word
from afresh.domain.state import State


class Person(Protocol):
    def at_pause(self, state: State) -> Word | None:
        """What they want before it goes on, asked something or not; None when nobody is there."""
        ...
