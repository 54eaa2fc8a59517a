"""The seams to the task's tree: its files, snapshots, git history, and the sandbox that runs commands in it."""

from collections.abc import Mapping, Sequence
from typing import ClassVar, Protocol

from afresh.core.action import PLAIN_MANNER, CommandRun, RunManner
from afresh.core.change import Change
from afresh.core.commit import CommitSummary
from afresh.core.event import WorkspaceOpened
from afresh.core.network_access import NO_NETWORK, NetworkAccess
from afresh.errors import ModelMistake


class FileTree(Protocol):
    """The task's tree, by paths relative to its root."""

    def read(self, path: str) -> str:
        """The text of a file that a model has named: ModelMistake for what is none or leads outside."""
        ...

    def write(self, path: str, text: str) -> None: ...
    def paths(self) -> Sequence[str]:
        """Tracked and new files, without ignored ones, sorted."""
        ...

    def stamps(self) -> Mapping[str, str]:
        """The same files, sorted, each with a mark that differs when its content may have changed."""
        ...


def read_text(files: FileTree, path: str) -> str | None:
    """The text of a file; None for what can't be read as text, such as a binary file or a pipe: that is nobody's mistake."""
    try:
        return files.read(path)
    except (ModelMistake, OSError, UnicodeError):
        return None


class Workspace(Protocol):
    """A tree of the task's own, with snapshots. The user's checkout is never touched."""

    def open(self) -> WorkspaceOpened:
        """Make the worktree, or find it again; safe to repeat."""
        ...

    def snapshot(self, whole: bool = False) -> str:
        """Keep the tree as it is now; the same tree gives the same id. UnreadableTree if it is to be `whole` and can't be."""
        ...

    def restore(self, snapshot: str, paths: Sequence[str] = (), fresh: bool = False) -> None:
        """Put the tree (or only these paths) back as it was. A `fresh` tree holds nothing else, not even what git ignores, but
        what was put into it from the checkout at the start."""
        ...

    def changes(self, before: str, after: str) -> Sequence[Change]: ...

    def read_files(self, snapshot: str, paths: Sequence[str]) -> Mapping[str, bytes]:
        """These files as the snapshot has them; none for a path that it does not have."""
        ...

    def search(self, snapshot: str, words: Sequence[str]) -> Sequence[tuple[str, str]]:
        """Path and text of each line of the snapshot that has one of these words."""
        ...

    def check_out(self, paths: Sequence[str]) -> Sequence[str]:
        """Write these files as `git checkout` would, by their attributes but without filters; those that come out otherwise than
        they are in the commit."""
        ...

    def publish(self, snapshot: str, message: str) -> str:
        """Make the snapshot the one commit of the task's branch; its id."""
        ...


class GitHistory(Protocol):
    """Reads the repository's history from git, and never writes."""

    def commit(self, name: str) -> str:
        """The id of the commit that a branch, tag, id or `HEAD~2` names; empty if it names none."""
        ...

    def fork(self, one: str, other: str) -> str:
        """The last common commit of two; empty if they have none."""
        ...

    def changes(self, before: str, after: str) -> Sequence[Change]: ...

    def log(self, until: str, paths: Sequence[str], most: int) -> Sequence[CommitSummary]:
        """The latest commits up to this one that touched these paths, the newest first."""
        ...


class Sandbox(Protocol):
    """Runs a command in the task's tree, confined."""

    level: ClassVar[str]
    """bubblewrap, landlock or none."""

    def run(
        self,
        command: str,
        timeout: float,
        reports: bool = False,
        network: NetworkAccess = NO_NETWORK,
        manner: RunManner = PLAIN_MANNER,
    ) -> CommandRun:
        """With `reports` the command can leave files for us that code under test can't forge unseen. `network` is open for it,
        if this level can filter it."""
        ...
