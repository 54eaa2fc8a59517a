"""Running git so that it starts nothing of the target repository: no hook, filter, monitor, pager, editor or transport."""

import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from afresh.errors import NeedsPerson

NULL_DEVICE = "/dev/null"
SAFE_GIT_CONFIG = (
    f"core.hooksPath={NULL_DEVICE}",
    "core.fsmonitor=false",
    "core.untrackedCache=false",
    "core.pager=cat",
    "core.editor=false",
    "core.sshCommand=false",
    "core.quotePath=false",
    "credential.helper=",
    "protocol.allow=never",
    "safe.bareRepository=explicit",
    "submodule.recurse=false",
    "commit.gpgSign=false",
    "gc.auto=0",
    "maintenance.auto=false",
    # milliseconds: tasks that begin and end at the same time share the repository's refs
    "core.filesRefLockTimeout=30000",
    "core.packedRefsTimeout=30000",
)
DURABLE_WRITE_CONFIG = ("core.fsync=objects,reference", "core.fsyncMethod=fsync")
SAFE_GIT_ENVIRONMENT = {
    "LC_ALL": "C",
    "HOME": "/nonexistent",
    "XDG_CONFIG_HOME": "/nonexistent",
    "GIT_CONFIG_GLOBAL": NULL_DEVICE,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    # a partial clone would otherwise fetch missing objects through whatever transport its configuration names
    "GIT_ALLOW_PROTOCOL": "",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
}
MAX_DEAD_LOCKS = 4
"""That one killed git can leave: those of a branch, of its HEAD, of the index and of packed refs."""


class GitFailed(NeedsPerson):
    """Git could not do what was asked; `output` is what it said."""

    def __init__(self, arguments: tuple[str, ...], code: int, output: str, printed: str = "") -> None:
        said, lock = output.strip().splitlines(), read_held_lock(output)
        why = f"{lock} exists" if lock else said[-1] if said else "no message"
        super().__init__(
            f"git {arguments[0]} failed ({code}): {why}",
            next="end the other git that holds it; if there is none, remove this file, then try again"
            if lock
            else "see whether the disk is full and `git fsck` finds the repository whole, then try again",
            safe="your checkout has not been touched",
        )
        self.code, self.output, self.printed = code, output, printed

    @property
    def killed(self) -> bool:
        """Whether a signal ended it: that is no answer."""
        return self.code < 0


@dataclass(frozen=True, slots=True)
class Git:
    """Git on one repository, named outright so that nothing is discovered on the way."""

    git_dir: Path
    work_tree: Path | None = None
    variables: tuple[tuple[str, str], ...] = ()

    def start(
        self, *arguments: str, config: tuple[str, ...] = (), variables: Mapping[str, str] = {}
    ) -> "subprocess.Popen[bytes]":
        settings = [part for setting in (*SAFE_GIT_CONFIG, *config) for part in ("-c", setting)]
        place = {"GIT_DIR": str(self.git_dir)} | ({"GIT_WORK_TREE": str(self.work_tree)} if self.work_tree else {})
        return subprocess.Popen(
            [find_git(), *settings, *arguments],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            cwd=self.work_tree or self.git_dir,
            env=SAFE_GIT_ENVIRONMENT | {"PATH": make_search_path()} | place | dict(self.variables) | dict(variables),
        )  # fmt: skip

    def run(self, *arguments: str, stdin: bytes = b"", config: tuple[str, ...] = (), variables: Mapping[str, str] = {}) -> bytes:
        for _ in range(MAX_DEAD_LOCKS):
            try:
                return finish_git(self.start(*arguments, config=config, variables=variables), arguments, stdin)[0]
            except GitFailed as fault:
                lock = read_held_lock(fault.output)
                if lock is None or not remove_dead_lock(lock):
                    raise
        return finish_git(self.start(*arguments, config=config, variables=variables), arguments, stdin)[0]

    def write_tree(self) -> str:
        """Write the index as a tree; its id."""
        return self.run("write-tree").decode().strip()

    @contextmanager
    def with_index(self, name: str) -> "Iterator[Git]":
        """Git with an index file of this name instead of the usual one; it is removed at the end."""
        place = self.git_dir / name
        place.unlink(missing_ok=True)
        try:
            yield Git(self.git_dir, self.work_tree, (("GIT_INDEX_FILE", str(place)),))
        finally:
            place.unlink(missing_ok=True)

    def ask(self, *arguments: str) -> str:
        """Git's answer in one line; empty if it has none."""
        try:
            return self.run(*arguments).decode(errors="replace").strip()
        except GitFailed as fault:
            if fault.killed:
                raise
            return ""


GIT_TIMEOUT_SECONDS = 600.0
"""A hundred thousand files take git some seconds; after this it hangs, on a dead network drive for instance."""
GIT_GRACE_SECONDS = 10.0
"""Asked to end, git removes its lock files."""


class GitHangs(NeedsPerson):
    """Git has not answered. Not a GitFailed, so that no caller takes it for an answer."""

    def __init__(self, arguments: tuple[str, ...]) -> None:
        super().__init__(
            f"git {arguments[0]} has not answered for {GIT_TIMEOUT_SECONDS:,.0f} s, and was ended",
            next="see whether `git status` answers there (a network drive that is gone?), then `afresh resume`",
            safe="your checkout has not been touched, and what was recorded is kept",
        )


def finish_git(process: "subprocess.Popen[bytes]", arguments: tuple[str, ...], stdin: bytes = b"") -> tuple[bytes, bytes]:
    """What it wrote and what it complained of; GitFailed if it gave up, GitHangs if it does not answer."""
    try:
        output, data = process.communicate(stdin, GIT_TIMEOUT_SECONDS)
    except subprocess.TimeoutExpired as late:
        _end_process(process)
        raise GitHangs(arguments) from late
    if process.returncode:
        raise GitFailed(arguments, process.returncode, data.decode(errors="replace"), output.decode(errors="replace"))
    return output, data


def _end_process(process: "subprocess.Popen[bytes]") -> None:
    """One that hangs in the kernel can't be waited for; its pipes are closed, and the kernel ends it when it can."""
    process.terminate()
    try:
        process.wait(GIT_GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe:
            pipe.close()


IDENTITY_VARIABLES = ("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL")
"""Who the user is, where no configuration says so, as in CI. Other GIT_* variables would lead git elsewhere."""


def run_git_as_user(folder: Path, *arguments: str, config: tuple[str, ...] = (), stdin: bytes = b"") -> bytes:
    """Git as the user has set it up, in the user's own environment; for what the user asked for."""
    settings = [part for setting in config for part in ("-c", setting)]
    variables = {name: value for name, value in os.environ.items() if not name.startswith("GIT_") or name in IDENTITY_VARIABLES}
    process = subprocess.Popen(
        [find_git(), *settings, *arguments],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        cwd=folder, env=variables | {"LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0", "GIT_EDITOR": "true"},
    )  # fmt: skip
    return finish_git(process, arguments, stdin)[0]


def copy_objects(source: Git, target: Git, tree: str, base: str) -> None:
    """Copy the objects of a tree that the base does not have from one repository to another; they are on disk afterwards."""
    pack = source.run("pack-objects", "--quiet", "--revs", "--stdout", stdin=f"{tree}\n^{base}\n".encode())
    target.run("unpack-objects", "-q", stdin=pack, config=DURABLE_WRITE_CONFIG)


@cache
def find_git() -> str:
    found = shutil.which("git")
    if not found:
        raise NeedsPerson("git is not installed", next="install git (apt install git) and try again")
    return found


@cache
def make_search_path() -> str:
    return os.pathsep.join((str(Path(find_git()).parent), os.defpath))


@cache
def read_git_version() -> tuple[int, int]:
    process = subprocess.Popen([find_git(), "version"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    text = finish_git(process, ("version",))[0].decode(errors="replace")
    match = re.match(r"git version (\d+)\.(\d+)", text)
    if not match:
        what = f"{find_git()} does not answer as git does: asked for its version, it said {text.strip()[:80]!r}"
        raise NeedsPerson(what, next="see which program `git` is")
    return int(match[1]), int(match[2])


def find_author_name(folder: Path) -> str:
    """The name that git knows, else the login, else `person`."""
    try:
        name = run_git_as_user(folder, "config", "--get", "user.name").decode(errors="replace")
    except GitFailed:
        name = ""
    names = (" ".join(name.split()), os.environ.get("LOGNAME", ""), os.environ.get("USER", ""))
    return next((name for name in names if name and name.isprintable()), "person")


HELD_LOCK = re.compile(r"Unable to create '([^'\n]+\.lock)': File exists|could not lock config file ([^\n]+): File exists")
OWN_PLACES = ("/shadow/", "/refs/heads/afresh/", "/worktrees/")
"""Snapshots of tasks, their branches, and what a repository knows of their worktrees."""
LOCK_PATIENCE_SECONDS = 2.0
LOOK_SECONDS = 0.05


def read_held_lock(text: str) -> Path | None:
    """The lock file that git has met."""
    match = HELD_LOCK.search(text)
    return Path(match[1] or f"{match[2]}.lock") if match else None


def remove_dead_lock(lock: Path) -> bool:
    """Whether the way is free: somebody has given the lock back, or nobody did anything to it for a while and it was removed."""
    if not any(place in lock.as_posix() for place in OWN_PLACES):
        return False
    first, until = _identify(lock), time.monotonic() + LOCK_PATIENCE_SECONDS
    while first and time.monotonic() < until:
        if _identify(lock) != first:
            return True
        time.sleep(LOOK_SECONDS)
    lock.unlink(missing_ok=True)
    return True


def _identify(lock: Path) -> tuple[int, int, int] | None:
    try:
        status = lock.lstat()
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns
