"""Pushes the result of a task and opens a pull request with the forge's own program. Nothing leaves the machine elsewhere."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from shlex import join as join_command

from afresh.core.state import State
from afresh.core.task import TaskStatus
from afresh.errors import BadInput, NeedsPerson, NotPossible
from afresh.storage.choose_storage import find_shared_remote
from afresh.views.pull_request import PullRequest
from afresh.workspace.git import GitFailed, run_git_as_user
from afresh.workspace.repository import Repository
from afresh.workspace.shared_work import bring_work
from afresh.workspace.task_branch import TaskBranch
from afresh.workspace.transfer import unpack_work

FORGE_PROGRAMS = ("gh", "glab")
NOTHING_PUSHED = "nothing was pushed"
BODY_FROM_STDIN = "-"


@dataclass(frozen=True, slots=True)
class PullRequestTarget:
    remote: str = "origin"
    base: str = ""
    """The branch that it is to be merged into; empty: the forge's default."""


def refuse_unready_result(root: Path, state: State) -> None:
    """Raise unless there is a branch with the task's result."""
    task, status = state.task.id, state.status
    if state.task.parent:
        raise BadInput(f"{task} is a subtask of {state.task.parent}", next=f"afresh pr {state.task.parent}", safe=NOTHING_PUSHED)
    if status.closed or not state.workspace.commit:
        what = f"task {task} is {status}: there is nothing to push"
        raise NotPossible(what, next=f"afresh show {task} shows its state", safe=NOTHING_PUSHED)
    unpack_work(Repository.find(root), task)
    if remote := find_shared_remote(root):
        bring_work(Repository.find(root), state, remote)


def push_result(root: Path, state: State, target: PullRequestTarget, unverified: bool) -> str:
    """Push the commit that was verified, and no other. Return what to say."""
    task, workspace = state.task.id, state.workspace
    if state.status is not TaskStatus.DONE and not unverified:
        what = f"the result of task {task} is not verified: {state.work.outcome or state.status}"
        raise NotPossible(what, next=f"look at `afresh diff {task}`, then pass --unverified", safe=NOTHING_PUSHED)
    if workspace.start.carried:
        what = f"task {task} began with your uncommitted changes, and its branch holds them, too"
        raise NotPossible(what, next=f"`afresh apply {task}`, then commit and push by hand", safe=NOTHING_PUSHED)
    try:
        branch = TaskBranch.of(Repository.find(root), task)
        run_git_as_user(root, "push", "--porcelain", "--", target.remote, f"{workspace.commit}:{branch.ref}")
    except GitFailed as fault:
        lines = [*fault.output.strip().splitlines(), fault.printed.strip()]
        text = next((line for line in lines if line.startswith(("fatal:", "error:"))), lines[0])
        what = f"git could not push {workspace.branch} to {target.remote}: {text}"
        raise NeedsPerson(what, next="check `git remote -v` and your access", safe="the branch is whole here") from None
    return f"pushed {workspace.branch} to {target.remote}"


def choose_program(root: Path, target: PullRequestTarget) -> str:
    """gh or glab: by the address of the remote, or the one that is installed."""
    try:
        address = run_git_as_user(root, "remote", "get-url", "--", target.remote).decode(errors="replace").lower()
    except GitFailed:
        address = ""
    known = [program for program, word in zip(FORGE_PROGRAMS, ("github", "gitlab"), strict=True) if word in address]
    return (*known, *(program for program in FORGE_PROGRAMS if shutil.which(program)), FORGE_PROGRAMS[0])[0]


def make_create_command(program: str, request: PullRequest, base: str, body: str) -> list[str]:
    """Return the command that opens it. `body`: of gh a file, of glab the text."""
    if program == "glab":
        into = [f"--target-branch={base}"] if base else []
        source = [f"--source-branch={request.branch}", f"--title={request.title}", f"--description={body}"]
        return [program, "mr", "create", *source, *into, "--yes"]
    into = [f"--base={base}"] if base else []
    return [program, "pr", "create", f"--head={request.branch}", f"--title={request.title}", f"--body-file={body}", *into]


def list_commands(root: Path, task: str, request: PullRequest, target: PullRequestTarget) -> list[str]:
    """Return what to type to do by hand what --push does."""
    program = choose_program(root, target)
    read_body = f"afresh pr {task} --only body"
    push = join_command(["git", "push", target.remote, request.branch])
    if program == "glab":
        create = join_command(make_create_command(program, request, target.base, "BODY"))
        return [push, create.replace("--description=BODY", f'--description="$({read_body})"')]
    return [push, f"{read_body} | {join_command(make_create_command(program, request, target.base, BODY_FROM_STDIN))}"]


def create_pull_request(root: Path, request: PullRequest, target: PullRequestTarget) -> str:
    """Open it with gh or glab; return what that printed, or nothing if it is not installed."""
    program = choose_program(root, target)
    if not shutil.which(program):
        return ""
    with tempfile.TemporaryDirectory() as folder:
        body = Path(folder) / "body.md"
        body.write_text(request.body, "utf-8")
        text = request.body if program == "glab" else str(body)
        return _run_forge_program(root, make_create_command(program, request, target.base, text))


def _run_forge_program(root: Path, command: Sequence[str]) -> str:
    environment = {**os.environ, "GH_PROMPT_DISABLED": "1", "NO_PROMPT": "1", "NO_COLOR": "1"}
    done = subprocess.run(
        command, cwd=root, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines() or [f"exit {done.returncode}"]
        raise NeedsPerson(
            f"{command[0]} could not open the pull request: {lines[-1]}",
            next=f"fix that ({command[0]} auth status), then run `afresh pr` for the commands",
            safe="the branch is pushed",
        )
    return done.stdout.strip()
