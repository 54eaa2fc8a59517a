"""Where a project's things are."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class ProjectPaths:
    root: Path

    @property
    def folder(self) -> Path:
        return self.root / ".afresh"

    @property
    def state(self) -> Path:
        return self.folder / "state"

    @property
    def database(self) -> Path:
        return self.state / "afresh.db"
