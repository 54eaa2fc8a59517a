"""The newest commits, as git tells them. Kept beside the state by the commit that they lead to, as they can't change."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

from afresh.adapters.workspace.git import Git, GitFailed
from afresh.domain.history import UNTOLD_HISTORY, Commit, History

MOST = 2_000
"""Commits that are read."""
LONGEST = 4_000
"""Characters of a message."""
LOG = (
    "log", f"--max-count={MOST}", "--no-merges", "--name-only", "--no-renames", "--no-ext-diff", "--no-textconv",
    "--no-show-signature", "--no-color", "-z", "--format=%x1e%ct%x1f%B%x1f",
)  # fmt: skip

RECORD = re.compile(r"\x1e(\d+)\x1f([^\x1f]*)\x1f([^\x1e]*)")
"""A message with one of these signs in it is passed over, or cut."""


def history(git: Git, head: str, state: Path | None = None) -> History:
    """Of the commit `head`; none when git can't tell. With a folder for state, git is asked once for each head."""
    if not head:
        return UNTOLD_HISTORY
    kept = state / "commits.json" if state and state.is_dir() else None
    if found := _kept(kept, head):
        return found
    try:
        said = git.run(*LOG, "--end-of-options", head).decode(errors="replace")
    except GitFailed:
        return UNTOLD_HISTORY
    told = History(head, tuple(_commits(said)))
    if kept:
        _keep(kept, told)
    return told


def _commits(said: str) -> Iterator[Commit]:
    for when, message, paths in RECORD.findall(said):
        names = tuple(path for path in (each.strip("\n") for each in paths.split("\0")) if path)
        yield Commit(message.strip()[:LONGEST], names, float(when))


def _kept(file: Path | None, head: str) -> History | None:
    """What was kept for another commit, or can't be read, is as good as nothing."""
    try:
        plain = json.loads(file.read_text("utf-8")) if file else {}
        if plain.get("head") == head:
            return History(head, tuple(Commit(message, tuple(paths), when) for message, paths, when in plain["commits"]))
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        pass
    return None


def _keep(file: Path, told: History) -> None:
    plain = {"head": told.head, "commits": [(past.message, past.paths, past.when) for past in told.commits]}
    beside = file.with_suffix(".new")
    try:
        beside.write_text(json.dumps(plain, ensure_ascii=False, separators=(",", ":")), "utf-8")
        beside.replace(file)
    except (OSError, UnicodeError):
        beside.unlink(missing_ok=True)
