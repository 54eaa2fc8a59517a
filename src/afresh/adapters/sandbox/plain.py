"""No confinement: only when the user asks for it. Time-out, output cap, clean environment and the killing at the end stay."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from afresh.adapters.sandbox.mounts import Limits, Mounts
from afresh.adapters.sandbox.supervised import Supervised, private_folder
from afresh.domain.action import Completed


@dataclass(frozen=True, slots=True)
class Plain:
    """A command can read and write all that the user can, and reach the network."""

    mounts: Mounts
    limits: Limits = field(default_factory=Limits)
    level: ClassVar[str] = "none"
    mounted: ClassVar[bool] = False
    weaker: ClassVar[tuple[str, ...]] = ("nothing is confined: commands can do all that the user can",)

    @property
    def root(self) -> Path:
        """Where a command sees the tree."""
        return self.mounts.tree

    def run(self, command: str, timeout: float) -> Completed:
        with private_folder() as temporary:
            return Supervised(self.mounts, self.limits, temporary).run(command, timeout)
