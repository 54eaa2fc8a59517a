"""The seam to whoever sits beside the work."""

from typing import Protocol

from afresh.domain.attended import PersonRequest
from afresh.domain.state import State


class Supervisor(Protocol):
    def at_pause(self, state: State) -> PersonRequest | None:
        """What they want before it goes on, asked something or not; None when nobody is there."""
        ...
