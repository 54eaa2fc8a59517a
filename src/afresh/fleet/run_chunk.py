"""Runs some steps of one task in a clone of the project's remote, and returns how it ended."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from afresh.app.compose import RunTerms, run_task
from afresh.app.project import open_project
from afresh.core.event import JournalEntry, TaskClaimed
from afresh.core.progress_event import CallDelayed, ProgressEvent
from afresh.core.state import State
from afresh.errors import Cancelled, Conflict, LeaseLost
from afresh.fleet.clone_cache import bring_clone
from afresh.fleet.dispatch import ChunkName
from afresh.fleet.stored_projects import FleetProject
from afresh.views.progress import RunProgress, update_run_progress

STEPS_PER_CHUNK = 60
"""After which the task goes back to the queue: DBOS repeats at most so many when a worker dies, and others have their turn."""


@dataclass(frozen=True, slots=True)
class ChunkEnd:
    """The result of a chunk. This is all that DBOS keeps of it."""

    status: str
    """Status of the task; empty: no step was taken."""
    step: int = 0
    goes_on: bool = False
    """Whether the task can be worked on at once."""
    fault: str = ""
    """Why a person must act, or a while must pass."""

    def to_reference(self) -> dict[str, Any]:
        return {"status": self.status, "step": self.step, "goes_on": self.goes_on}


class LoggedProgress:
    """A Watcher that says one line for each step."""

    def __init__(self, task: str, say: Callable[[str], None]) -> None:
        self._task, self._say = task, say
        self._glance = RunProgress(since=0.0)

    def saw(self, state: State, entries: Sequence[JournalEntry]) -> None:
        if any(isinstance(entry.event, TaskClaimed) for entry in entries):
            self._say(f"claimed {self._task}, {state.work.step} steps so far")
        self._glance, new = update_run_progress(self._glance, state, entries)
        for line in new:
            if not line.detail:
                result = f" → {line.result}" if line.result else ""
                self.say(f"{f'{line.step} ' if line.step else ''}{line.mark} {line.text}{result}")

    def follow(self, event: ProgressEvent) -> None:
        if isinstance(event, CallDelayed):
            self.say(f"… {event.why}")

    def say(self, text: str) -> None:
        self._say(f"{self._task}: {' '.join(text.split())}")


def run_chunk(chunk: ChunkName, project: FleetProject, folder: Path, terms: RunTerms, say: Callable[[str], None]) -> ChunkEnd:
    """Claim the task and advance it. What happens to it is in its journal; nothing is raised that a worker can go on after."""
    try:
        clone = bring_clone(folder, project.key, project.name, project.remote)
        opened = open_project(clone)
        try:
            state = run_task(opened, chunk.task, terms)
        finally:
            opened.storage.close()
    except (Cancelled, LeaseLost, Conflict) as why:
        taken = isinstance(why, Conflict)  # the journal has moved on, so that nothing was written
        say(f"{chunk.task}: stopped because {'another worker has taken it over' if taken else why}; its steps are kept")
        return ChunkEnd("")
    except Exception as fault:  # of this task or of this machine: the worker goes on with other tasks
        return ChunkEnd("", fault=" ".join(str(fault).split()))
    assert state, "a named task is claimed or refused"
    hold = state.place.hold
    if hold:
        say(f"{chunk.task}: {hold.kind} after step {state.work.step}, as a person asked")
    elif state.is_running:
        say(f"{chunk.task}: {state.work.step} steps so far; back to the queue")
    else:
        say(f"{chunk.task}: {state.status}: {state.work.outcome}")
    return ChunkEnd(state.status.value, state.work.step, state.is_running and not hold)
