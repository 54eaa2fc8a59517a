"""No confinement: only when the user asks for it. Time-out, output cap, clean environment and the killing at the end stay."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from afresh.core.action import CommandRun
from afresh.sandbox.mounts import Mounts
from afresh.sandbox.resource_limits import ResourceLimits
from afresh.sandbox.supervisor import SupervisedCommand, make_private_folder


@dataclass(frozen=True, slots=True)
class UnconfinedSandbox:
    """A command can read and write all that the user can, and reach the network."""

    mounts: Mounts
    limits: ResourceLimits = field(default_factory=ResourceLimits)
    level: ClassVar[str] = "none"
    mounted: ClassVar[bool] = False
    weaker: ClassVar[tuple[str, ...]] = ("nothing is confined: commands can do all that the user can",)

    @property
    def root(self) -> Path:
        """Where a command sees the tree."""
        return self.mounts.tree

    def run(self, command: str, timeout: float) -> CommandRun:
        with make_private_folder() as temporary:
            return SupervisedCommand(self.mounts, self.limits, temporary).run(command, timeout)
