"""The sample project and a worker that kills itself in the middle of a task (`python -m afresh.app.demo REPO TASK STEP`)."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from afresh.app.compose import RunTerms, run_task
from afresh.app.project import open_project
from afresh.core.event import JournalEntry, ReplyReceived
from afresh.core.progress_event import ProgressEvent
from afresh.core.state import State
from afresh.errors import BadInput
from afresh.models.choose_model import OFFLINE_SPEC
from afresh.workspace.repository import Repository
from afresh.workspace.worktree_location import find_worktrees_folder

SAMPLE_FOLDER = Path(__file__).parents[1] / "sample"
DEMO_MODEL = OFFLINE_SPEC
_COMMIT_DATE = "2024-05-01T12:00:00+00:00"
_GIT_IDENTITY = {
    "GIT_AUTHOR_NAME": "Parcel", "GIT_AUTHOR_EMAIL": "parcel@example.org", "GIT_AUTHOR_DATE": _COMMIT_DATE,
    "GIT_COMMITTER_NAME": "Parcel", "GIT_COMMITTER_EMAIL": "parcel@example.org", "GIT_COMMITTER_DATE": _COMMIT_DATE,
    "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1",
}  # fmt: skip


def copy_sample(target: Path) -> Path:
    """Copy the sample into a new or empty folder and make it a git repository with one commit that is the same everywhere."""
    if target.exists() and any(target.iterdir()):
        raise BadInput(f"{target} is not empty", next="choose a folder that does not exist yet", safe="nothing was written")
    shutil.copytree(SAMPLE_FOLDER, target, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__", ".pytest_cache"))
    # a file named .gitignore would also apply to this repository
    (target / "gitignore").rename(target / ".gitignore")
    for arguments in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "Parcel 1.3"]):
        _run_git(target, arguments)
    return target


@contextmanager
def lend_sample() -> Generator[Path]:
    """A copy of the sample that is gone afterwards, with the worktrees that tasks have made of it."""
    with TemporaryDirectory(prefix="afresh-demo-") as temporary:
        copy = copy_sample(Path(temporary) / "parcel")
        try:
            yield copy
        finally:
            shutil.rmtree(find_worktrees_folder(Repository.find(copy)), ignore_errors=True)


def _run_git(target: Path, arguments: list[str]) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    subprocess.run(["git", *arguments], cwd=target, env=environment | _GIT_IDENTITY, check=True, capture_output=True)


class KillAfterReply:
    """A Watcher that kills its process after a reply is recorded and before it is executed."""

    def __init__(self, step: int) -> None:
        self.step = step

    def saw(self, state: State, entries: Sequence[JournalEntry]) -> None:
        if any(isinstance(entry.event, ReplyReceived) and entry.event.step == self.step for entry in entries):
            os.kill(os.getpid(), signal.SIGKILL)

    def follow(self, event: ProgressEvent) -> None:
        """Do nothing: the process is killed only after a commit."""


def run_until_killed(repository: Path, task: str, step: int, no_sandbox: bool) -> int:
    """Return the signal that ended the worker (9), or 0 if it survived."""
    flags = ["--no-sandbox"] if no_sandbox else []
    done = subprocess.run([sys.executable, "-m", "afresh.app.demo", str(repository), task, str(step), *flags], check=False)
    return -done.returncode


if __name__ == "__main__":
    place, name, number, *rest = sys.argv[1:]
    terms = RunTerms(DEMO_MODEL, no_sandbox="--no-sandbox" in rest, watchers=(KillAfterReply(int(number)),))
    run_task(open_project(Path(place)), name, terms)
