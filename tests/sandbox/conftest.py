"""A task's tree, the repository path that it stands in for, and a sandbox over them."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from afresh.sandbox.choose_level import open_level
from afresh.sandbox.escape_probe import AnySandbox
from afresh.sandbox.mounts import Mounts
from afresh.sandbox.resource_limits import ResourceLimits


@dataclass(frozen=True)
class Place:
    tree: Path
    at: Path
    sandbox: AnySandbox


@pytest.fixture
def make_place(tmp_path: Path, requires_sandbox: Callable[..., None]) -> Callable[..., Place]:
    def make(level: str, limits: ResourceLimits | None = None, **mounts: object) -> Place:
        if level != "none":
            requires_sandbox(level)
        tree, at = tmp_path / "worktree", tmp_path / "repository"
        tree.mkdir(exist_ok=True)
        at.mkdir(exist_ok=True)
        return Place(tree, at, open_level(level, Mounts(tree, at, **mounts), limits))  # type: ignore[arg-type]

    return make
