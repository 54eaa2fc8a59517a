"""The newest commits, read from git. They are cached by their head, since they can't change."""

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from afresh.core.change import Change
from afresh.core.commit import NO_COMMIT_HISTORY, CommitFiles, CommitHistory, CommitSummary
from afresh.core.redaction import redact_secrets
from afresh.errors import BadInput
from afresh.workspace import diff
from afresh.workspace.diff import path_from_bytes
from afresh.workspace.git import Git, GitFailed
from afresh.workspace.repository import Repository

MAX_COMMITS = 2_000
"""Commits that are read."""
MAX_MESSAGE_CHARACTERS = 4_000
"""Characters of a message."""
LOG_ARGUMENTS = (
    "log", f"--max-count={MAX_COMMITS}", "--no-merges", "--name-only", "--no-renames", "--no-ext-diff", "--no-textconv",
    "--no-show-signature", "--no-color", "-z", "--format=%x1e%ct%x1f%B%x1f",
)  # fmt: skip

COMMIT_PATTERN = re.compile(r"\x1e(\d+)\x1f([^\x1f]*)\x1f([^\x1e]*)")
"""A message with one of these marks is skipped, or cut at the mark."""


def read_commit_history(git: Git, head: str, state: Path | None = None) -> CommitHistory:
    """The history of the commit `head`; empty if git can't read it. With a folder for state, git is asked once for each head."""
    if not head:
        return NO_COMMIT_HISTORY
    kept = state / "commits.json" if state and state.is_dir() else None
    if cache := _read_cache(kept, head):
        return cache
    try:
        text = redact_secrets(git.run(*LOG_ARGUMENTS, "--end-of-options", head).decode(errors="replace"))
    except GitFailed:
        return NO_COMMIT_HISTORY
    history = CommitHistory(head, tuple(_parse_commits(text)))
    if kept:
        _write_cache(kept, history)
    return history


def _parse_commits(text: str) -> Iterator[CommitFiles]:
    for when, message, paths in COMMIT_PATTERN.findall(text):
        names = tuple(path for path in (each.strip("\n") for each in paths.split("\0")) if path)
        yield CommitFiles(message.strip()[:MAX_MESSAGE_CHARACTERS], names, float(when))


def _read_cache(file: Path | None, head: str) -> CommitHistory | None:
    """A cache of another commit, or an unreadable one, is ignored."""
    try:
        plain = json.loads(file.read_text("utf-8")) if file else {}
        if plain.get("head") == head:
            return CommitHistory(
                head, tuple(CommitFiles(message, tuple(paths), when) for message, paths, when in plain["commits"])
            )
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        pass
    return None


def _write_cache(file: Path, history: CommitHistory) -> None:
    plain = {"head": history.head, "commits": [(past.message, past.paths, past.when) for past in history.commits]}
    beside = file.with_suffix(".new")
    try:
        beside.write_text(json.dumps(plain, ensure_ascii=False, separators=(",", ":")), "utf-8")
        beside.replace(file)
    except (OSError, UnicodeError):
        beside.unlink(missing_ok=True)


MAX_DIFF_FILES = 200
"""More files can't be reviewed in one prompt."""


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
