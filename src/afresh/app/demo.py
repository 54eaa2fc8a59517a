"""The demo's second act: a worker that kills itself in the middle of a task (`python -m afresh.app.demo REPO TASK STEP`)."""

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from afresh.app.compose import RunTerms, run_task
from afresh.app.tasks import open_project
from afresh.domain.event import JournalEntry, ReplyReceived
from afresh.domain.state import State


class KillAfterReply:
    """A Watcher that ends its process without warning once the reply of a step is recorded and before it is acted on."""

    def __init__(self, step: int) -> None:
        self.step = step

    def saw(self, state: State, entries: Sequence[JournalEntry]) -> None:
        if any(isinstance(entry.event, ReplyReceived) and entry.event.step == self.step for entry in entries):
            os.kill(os.getpid(), signal.SIGKILL)

    def doing(self, what: str) -> None:
        """Death comes only after a commit."""


def run_until_killed(repository: Path, task: str, step: int, no_sandbox: bool) -> int:
    """The signal that ended the worker (9), or 0 if it lived."""
    flags = ["--no-sandbox"] if no_sandbox else []
    done = subprocess.run([sys.executable, "-m", "afresh.app.demo", str(repository), task, str(step), *flags], check=False)
    return -done.returncode


if __name__ == "__main__":
    place, name, number, *rest = sys.argv[1:]
    run_task(
        open_project(Path(place)), name, RunTerms(no_sandbox="--no-sandbox" in rest, watchers=(KillAfterReply(int(number)),))
    )
