"""The git remote of a project: clones it, fetches from it and pushes to it, as the user has set git up."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from afresh.core.task import NOTHING_CHANGED
from afresh.errors import BadInput, NeedsPerson, NotPossible
from afresh.workspace.git import GitFailed, find_git, finish_git

NO_COMMAND_CONFIG = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "protocol.ext.allow=never",
    "submodule.recurse=false",
    "gc.auto=0",
    "maintenance.auto=false",
)
"""An address comes from the store, which others write to: it must not name a command, and no hook runs."""
REJECTED_MARK = "!"
"""How `git push --porcelain` begins the line of a ref that was not moved."""


def check_remote(remote: str) -> str:
    """Return the address. BadInput if git would read it as an option or a command."""
    if not remote or remote.startswith("-") or "::" in remote.partition("/")[0] or not remote.isprintable():
        raise BadInput(
            f"{remote!r} can't be the git remote of a project",
            next="use an address that `git clone` takes, such as git@host:group/name.git",
            safe=NOTHING_CHANGED,
        )
    return remote


def clone_or_update(remote: str, folder: Path, settings: Mapping[str, str] = {}) -> None:
    """Make the folder a checkout of the remote's default branch as it is now, with these settings of git. The folder is the
    worker's own: what was changed in it is given up, files that git ignores stay."""
    check_remote(remote)
    if not (folder / ".git").is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        _run(folder.parent, "clone", "--quiet", "--no-tags", "--", remote, str(folder))
    else:
        _run(folder, "remote", "set-url", "origin", remote)
        _run(folder, "fetch", "--quiet", "--no-tags", "--prune", "origin", "+refs/heads/*:refs/remotes/origin/*")
        _run(folder, "remote", "set-head", "origin", "--auto")
    for name, value in settings.items():
        _run(folder, "config", name, value)
    try:
        _run(folder, "checkout", "--quiet", "--force", "--detach", "refs/remotes/origin/HEAD")
    except GitFailed as fault:
        raise NotPossible(
            f"{remote} has no default branch with a commit", next="push a branch there first", safe=NOTHING_CHANGED
        ) from fault


def read_remote_ref(git_dir: Path, remote: str, ref: str) -> str:
    """The commit that the remote's ref is at; empty if it has no such ref. NeedsPerson if it does not answer."""
    listed = _run_at(git_dir, remote, "ls-remote", "--", check_remote(remote), ref).decode(errors="replace")
    return next((line.split("\t")[0] for line in listed.splitlines() if line.endswith(f"\t{ref}")), "")


def fetch_ref(git_dir: Path, remote: str, ref: str, into: str) -> str:
    """Bring the remote's ref here, as the ref `into`; the commit, or empty if it has no such ref."""
    remote_ref = read_remote_ref(git_dir, remote, ref)
    if remote_ref:
        _run_at(git_dir, remote, "fetch", "--quiet", "--no-tags", "--", check_remote(remote), f"+{ref}:{into}")
    return remote_ref


def push_commit(git_dir: Path, remote: str, commit: str, ref: str, expected: str) -> bool:
    """Move the remote's ref to the commit if it is where `expected` says (empty: not there). False if it is elsewhere. An empty
    commit deletes it."""
    lease = f"--force-with-lease={ref}:{expected}"
    try:
        _run_at(git_dir, remote, "push", "--porcelain", "--quiet", lease, "--", check_remote(remote), f"{commit}:{ref}")
    except GitFailed as fault:
        if any(line.startswith(REJECTED_MARK) and "stale info" in line for line in fault.printed.splitlines()):
            return False
        if "cannot lock ref" in fault.output or "cannot lock ref" in fault.printed:  # somebody moved it at the same moment
            return False
        raise _make_remote_error(remote, fault) from fault
    return True


def _run_at(git_dir: Path, remote: str, *arguments: str) -> bytes:
    try:
        return _run(git_dir, *arguments, git_dir=git_dir)
    except GitFailed as fault:
        if arguments[0] == "push":
            raise
        raise _make_remote_error(remote, fault) from fault


def _run(folder: Path, *arguments: str, git_dir: Path | None = None) -> bytes:
    settings = [part for setting in NO_COMMAND_CONFIG for part in ("-c", setting)]
    variables = {name: value for name, value in os.environ.items() if not name.startswith("GIT_") or name == "GIT_SSH_COMMAND"}
    place = {"GIT_DIR": str(git_dir)} if git_dir else {}
    process = subprocess.Popen(
        [find_git(), *settings, *arguments],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        cwd=folder, env=variables | {"LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0"} | place,
    )  # fmt: skip
    return finish_git(process, arguments)[0]


def _make_remote_error(remote: str, fault: GitFailed) -> NeedsPerson:
    lines = fault.output.strip().splitlines()
    return NeedsPerson(
        f"the git remote {remote} does not answer as it should: {lines[-1] if lines else fault.what}",
        next=f"see whether `git ls-remote {remote}` works on this machine and may push there, then `afresh resume`",
        safe="the task's journal is kept, and nothing was pushed",
    )
