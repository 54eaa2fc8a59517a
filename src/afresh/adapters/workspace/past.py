"""The port Past on git: commits and differences of the user's repository, read and never written."""

from collections.abc import Sequence

from afresh.adapters.workspace import diff
from afresh.adapters.workspace.diff import path_from_bytes
from afresh.adapters.workspace.git import GitFailed
from afresh.adapters.workspace.repository import Repository
from afresh.domain.change import Change
from afresh.domain.past import CommitSummary
from afresh.errors import BadInput

MAX_DIFF_FILES = 200
"""Files of a difference beyond which nobody reviews it in one window."""


class GitCommitHistory:
    """Commits never change, so each question is put to git once."""

    def __init__(self, repository: Repository) -> None:
        self.repository = repository
        self._logs: dict[tuple[str, tuple[str, ...], int], Sequence[CommitSummary]] = {}
        self._changes: dict[tuple[str, str], Sequence[Change]] = {}

    def commit(self, name: str) -> str:
        try:
            return self.repository.commit(name)
        except (BadInput, GitFailed):
            return ""

    def fork(self, one: str, other: str) -> str:
        return self.repository.git.ask("merge-base", "--end-of-options", one, other)

    def changes(self, before: str, after: str) -> Sequence[Change]:
        if (before, after) not in self._changes:
            self._changes[before, after] = self._differences(before, after)
        return self._changes[before, after]

    def log(self, until: str, paths: Sequence[str], most: int) -> Sequence[CommitSummary]:
        key = (until, tuple(paths), most)
        if key not in self._logs:
            self._logs[key] = self._commits(until, paths, most)
        return self._logs[key]

    def _differences(self, before: str, after: str) -> Sequence[Change]:
        try:
            names = self.repository.git.run("diff-tree", "-r", "-z", "--name-only", "--end-of-options", before, after)
            return diff.list_changes(self.repository.git, before, after) if names.count(b"\0") <= MAX_DIFF_FILES else ()
        except GitFailed:
            return ()

    def _commits(self, until: str, paths: Sequence[str], most: int) -> Sequence[CommitSummary]:
        asked = ("log", f"--max-count={most}", "--no-merges", "--format=%h%x00%cs%x00%s", "--end-of-options", until, "--", *paths)
        try:
            lines = self.repository.git.run(*asked).splitlines()
        except GitFailed:
            return ()
        return tuple(CommitSummary(*map(path_from_bytes, line.split(b"\0", 2))) for line in lines if line.count(b"\0") >= 2)
