"""Opens the tree of a task: on this machine alone, or shared by the project's git remote."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from afresh.app.project import Project
from afresh.app.queue.read_tasks import SystemClock
from afresh.app.settings import Settings
from afresh.core.state import State
from afresh.core.task import Task
from afresh.errors import NeedsPerson
from afresh.ports.storage import JournalStore
from afresh.sandbox.mounts import Mounts
from afresh.workspace.environment_files import find_environment_folders
from afresh.workspace.repository import Repository
from afresh.workspace.shared_work import SharedPlace, SharedWorkspace, bring_work, remove_shared_work
from afresh.workspace.task_branch import TaskBranch
from afresh.workspace.transfer import unpack_work
from afresh.workspace.worktree import GitWorkspace, PartOrigin


@dataclass(frozen=True, slots=True)
class JournalClock:
    """The time of a task's last entry: a result that another machine makes again has the same date."""

    store: JournalStore
    task: str

    def now(self) -> float:
        return self.store.load(self.task).times.updated


def open_workspace(project: Project, repository: Repository, state: State, check_cancelled: Callable[[], None]) -> GitWorkspace:
    """The task's tree. With a remote, other machines have worked on it, or may have to."""
    origin, start = find_part_origin(project, state.task), state.workspace.start
    if not project.remote:
        return GitWorkspace(repository, state.task.id, SystemClock(), origin, start, project.settings.copy)
    bring_work(repository, state, project.remote)
    place = SharedPlace(project.remote, check_cancelled)
    return SharedWorkspace(repository, state, JournalClock(project.store, state.task.id), place, origin, project.settings.copy)


def publish_kept_work(project: Project, state: State, message: str) -> str:
    """Put what a task has kept so far on its branch, and return the commit; done again it is the same one."""
    repository = Repository.find(project.paths.root)
    unpack_work(repository, state.task.id)
    record, snapshot = TaskBranch.of(repository, state.task.id).record, state.workspace.snapshot
    if record.get("snapshot") == snapshot:
        return record["commit"]
    return open_workspace(project, repository, state, lambda: None).publish(snapshot, message)


def make_mounts(repository: Repository, tree: Path, settings: Settings) -> Mounts:
    """What a sandbox over a tree shows, with the environments that the checkout has now."""
    readable = tuple(Path(path).expanduser() for path in settings.readable)
    return Mounts(tree, repository.root, find_environment_folders(repository), readable)


def bring_task_work(project: Project, repository: Repository, state: State) -> None:
    """Fetch what other machines have made of the task; nothing is done for a project that has no remote."""
    if project.remote:
        bring_work(repository, state, project.remote)


def drop_shared_work(project: Project, repository: Repository, state: State) -> None:
    """Delete the work of a task that is over from the remote. If that fails, it stays there and harms nothing."""
    if project.remote:
        with suppress(NeedsPerson):
            remove_shared_work(repository, state.task.id, state.workspace.commit, project.remote)


def find_part_origin(project: Project, task: Task) -> PartOrigin | None:
    """Return the parent's tree at the time of the hand-out; a subtask starts from it."""
    return PartOrigin(task.parent, project.store.load(task.parent).workspace.base, task.tree) if task.parent else None
