"""Keeps the index of a checkout up to date while files change."""

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from threading import Event
from typing import Any

from afresh.app.code.explore_code import IndexedCheckout, refresh_checkout_code
from afresh.code.index.code_index import CodeIndex
from afresh.errors import AfreshError, NeedsPerson, NotPossible, suggest_extra
from afresh.ports.workspace import FileTree
from afresh.workspace.git import SAFE_GIT_CONFIG, GitFailed, run_git_as_user

QUIET_MILLISECONDS = 100
MAX_DELAY_MILLISECONDS = 1_000
"""Longest delay of an update while changes keep arriving."""
STOP_POLL_MILLISECONDS = 1_000
FULL_LOOK_SECONDS = 30.0
"""Seconds between full scans: event queues can overflow, and some file systems send no events."""
UNWATCHED_FOLDERS = (".git", ".afresh")


@dataclass(frozen=True, slots=True)
class IndexUpdate:
    """The result of one index update."""

    read: tuple[str, ...]
    """Files with new content."""
    gone: tuple[str, ...]
    seconds: float
    files: int
    """Files in supported languages."""


@dataclass(slots=True)
class RecordingFiles:
    """Implements `Files` and records which files were read and which were new."""

    files: FileTree
    seen: dict[str, bytes] = field(default_factory=dict)
    fresh: list[str] = field(default_factory=list)

    def read(self, path: str) -> str:
        text = self.files.read(path)
        content = sha256(text.encode()).digest()
        if self.seen.get(path) != content:
            self.fresh.append(path)
        self.seen[path] = content
        return text

    def write(self, path: str, text: str) -> None:
        self.files.write(path, text)

    def paths(self) -> Sequence[str]:
        return self.files.paths()

    def stamps(self) -> Mapping[str, str]:
        return self.files.stamps()


def watch_checkout(home: IndexedCheckout, tell: Callable[[IndexUpdate], None], stop: Event | None = None) -> None:
    """Watch until stopped or interrupted. The first update covers the whole tree, later ones a change."""
    events = watch_changed_paths(home.root, stop)
    with lock_checkout(home):
        # no full scan since the watch began: changes between the first update and the watch are found at once
        reads, looked = RecordingFiles(home.files), -FULL_LOOK_SECONDS
        code = update_checkout_index(home, reads, None, tell)
        for changed in events:
            if not home.root.is_dir():
                raise NotPossible(f"{home.root} is gone", next="restart it in the repository's new location")
            if not needs_index_update(home, changed, code) and time.monotonic() - looked < FULL_LOOK_SECONDS:
                continue
            looked = time.monotonic()
            code = update_checkout_index(home, reads, code, tell)


def update_checkout_index(
    home: IndexedCheckout, reads: RecordingFiles, before: CodeIndex | None, tell: Callable[[IndexUpdate], None]
) -> CodeIndex:
    """Update the index. If the tree cannot be listed, as during a checkout, it is tried again with the next event."""
    started = time.perf_counter()
    reads.fresh = []
    try:
        code = refresh_checkout_code(home, reads)
    except (OSError, AfreshError):
        if before is None:
            raise
        return before
    gone = tuple(sorted(set(before.paths) - set(code.paths))) if before else ()
    for path in gone:
        reads.seen.pop(path, None)
    if before is None or reads.fresh or gone:
        tell(IndexUpdate(tuple(sorted(set(reads.fresh))), gone, time.perf_counter() - started, len(code.files)))
    return code


def watch_changed_paths(root: Path, stop: Event | None) -> Iterator[frozenset[str]]:
    """Yield changed paths, or an empty set after a timeout. Raises NeedsPerson if watching is not possible."""
    try:
        from watchfiles import watch as watched  # pyright: ignore[reportMissingImports]
    except ImportError as missing:
        raise NeedsPerson(
            "`afresh watch --index` needs the package watchfiles, which is not installed",
            next=f"{suggest_extra('watch')}; without it each command checks the files itself",
        ) from missing
    return _yield_changed_paths(root, watched, stop)


def _yield_changed_paths(root: Path, watched: Any, stop: Event | None) -> Iterator[frozenset[str]]:
    top = f"{root}{os.sep}"

    def outside_of_ours(_: Any, path: str) -> bool:
        return path.removeprefix(top).split(os.sep, 1)[0] not in UNWATCHED_FOLDERS

    try:
        batches = watched(
            root,
            watch_filter=outside_of_ours,
            debounce=MAX_DELAY_MILLISECONDS,
            step=QUIET_MILLISECONDS,
            stop_event=stop,
            rust_timeout=STOP_POLL_MILLISECONDS,
            yield_on_timeout=True,
        )
        for batch in batches:
            yield frozenset(path.removeprefix(top) for _, path in batch)
    except OSError as fault:
        raise NeedsPerson(
            f"{root} can't be watched: {fault}",
            next="raise fs.inotify.max_user_watches, or set WATCHFILES_FORCE_POLLING=true and restart it",
            safe="the index is kept; each command checks the files itself",
        ) from fault


def needs_index_update(home: IndexedCheckout, changed: frozenset[str], code: CodeIndex) -> bool:
    """Return whether a changed path is indexed, or is a new file that git does not ignore."""
    if not changed:
        return False
    if not changed.isdisjoint(code.paths) or any(name.rpartition("/")[2] == ".gitignore" for name in changed):
        return True
    return len(find_ignored_paths(home.root, changed)) < len(changed)


def find_ignored_paths(root: Path, names: frozenset[str]) -> frozenset[str]:
    given = b"\0".join(os.fsencode(name) for name in sorted(names))
    try:
        answer = run_git_as_user(root, "check-ignore", "-z", "--stdin", config=SAFE_GIT_CONFIG, stdin=given)
    except GitFailed:
        return frozenset()
    return frozenset(os.fsdecode(name) for name in answer.split(b"\0") if name)


@contextmanager
def lock_checkout(home: IndexedCheckout) -> Iterator[None]:
    """Allow one watcher per checkout. The system releases the lock when the process ends."""
    from fcntl import LOCK_EX, LOCK_NB, flock

    place = home.state / "watch.lock"
    place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    held = os.open(place, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        try:
            flock(held, LOCK_EX | LOCK_NB)
        except OSError:
            other = os.pread(held, 32, 0).decode(errors="replace").strip() or "unknown"
            raise NotPossible(
                f"{home.root} is already watched, by process {other}",
                next=f"let it run, or stop it: kill {other}",
                safe="the other one keeps running",
            ) from None
        os.ftruncate(held, 0)
        os.pwrite(held, f"{os.getpid()}\n".encode(), 0)
        yield
    finally:
        os.close(held)
