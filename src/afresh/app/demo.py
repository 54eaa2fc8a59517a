"""The demo's second act: a worker that kills itself in the middle of a task. Run as `python -m afresh.app.demo REPO TASK STEP`."""

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from afresh.app.compose import Terms, work
from afresh.app.tasks import open_desk
from afresh.domain.event import Entry, Replied
from afresh.domain.state import State


class DiesAfterReply:
    """A Watcher that ends its process without warning once the reply of a step is recorded and before it is acted on."""

    def __init__(self, step: int) -> None:
        self.step = step

    def saw(self, state: State, entries: Sequence[Entry]) -> None:
        if any(isinstance(entry.event, Replied) and entry.event.step == self.step for entry in entries):
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
    work(open_desk(Path(place)), name, Terms(no_sandbox="--no-sandbox" in rest, watchers=(DiesAfterReply(int(number)),)))
