"""The tree of a part: it begins with a snapshot of the task that it belongs to, and what it changed goes back there."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from afresh.adapters.workspace.diff import list_changes
from afresh.adapters.workspace.git import Git
from afresh.adapters.workspace.publish import DURABLE_WRITE_CONFIG
from afresh.adapters.workspace.repository import Repository, check_task_id


@dataclass(frozen=True, slots=True)
class PartOrigin:
    """Where the tree of a part begins."""

    task: str
    base: str
    """The commit that the task itself began with."""
    snapshot: str


def find_shadow_folder(repository: Repository, task: str) -> Path:
    return repository.state / "shadow" / f"{check_task_id(task)}.git"


def copy_snapshot(source: Path, target: Path, snapshot: str, base: str) -> None:
    """Copy the objects of a snapshot that the base does not have from one shadow to another; they are on disk afterwards."""
    if Git(target).ask("rev-parse", "--verify", "--quiet", snapshot + "^{tree}"):
        return
    pack = Git(source).run("pack-objects", "--quiet", "--revs", "--stdout", stdin=f"{snapshot}\n^{base}\n".encode())
    Git(target).run("unpack-objects", "-q", stdin=pack, config=DURABLE_WRITE_CONFIG)


def list_changed_paths(repository: Repository, part: str, before: str, after: str) -> Sequence[str]:
    return [change.path for change in list_changes(Git(find_shadow_folder(repository, part)), before, after)]
