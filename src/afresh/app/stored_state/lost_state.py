"""Notices that the task database was lost: it has no tasks, but files of tasks are beside it."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from afresh.core.task import TicketQuery
from afresh.storage.choose_storage import find_store_address

if TYPE_CHECKING:
    from afresh.ports.storage import Storage, TaskQueue

TRACE_PATTERNS = (
    "sessions/*.md",
    "sessions/archive/*.md",
    "tasks/*.json",
    "decisions/*.jsonl",
    "shadow/*.git",
    "export/journals/*.jsonl",
)
"""In the state folder, which only this machine writes: files that are written after the journal, never without it."""
NAMED_TRACES = 3
MOVE_TO_SERVER = "tasks in the files of this project come there by `afresh export` without AFRESH_STORE, then `afresh import`"


@dataclass(frozen=True, slots=True)
class EmptyStore:
    """Why there is no task, and what to do."""

    what: str
    next: str
    lost: bool = False
    """Tasks were here before."""


def explain_empty_store(queue: "TaskQueue", export_folder: Path) -> EmptyStore | None:
    """None if there are tasks. An export without tasks here is a fresh clone, or what brings them back."""
    if queue.tickets(TicketQuery(most=1)):
        return None
    from afresh.storage.export.manifest import describe_import

    offer, state = describe_import(export_folder), export_folder.parent / "state"
    if not (traces := sorted(set(_list_traced_tasks(state)))):
        return EmptyStore("no tasks yet", offer)
    if find_store_address():
        return EmptyStore("the server has no task of this project yet", offer or MOVE_TO_SERVER)
    named = ", ".join(traces[:NAMED_TRACES]) + (f" and {len(traces) - NAMED_TRACES} more" if traces[NAMED_TRACES:] else "")
    return EmptyStore(
        f"the database {state / 'afresh.db'} was lost or emptied: no task is in it, files of {len(traces)} are there ({named})",
        f"{offer or 'restore it from a backup'}; finished work is on the branches afresh/TASK; to start over, remove {state}",
        lost=True,
    )


def _list_traced_tasks(state: Path) -> Iterator[str]:
    for pattern in TRACE_PATTERNS:
        for path in state.glob(pattern):
            if not path.name.startswith("."):
                yield path.name.split(".")[0]


COPY_ADVICE = "`afresh doctor --rebuild` writes it again; `afresh import` brings back what only the copy has"


def describe_copy(storage: "Storage", queue: "TaskQueue") -> Iterator[tuple[Literal["ok", "warn"], str, str]]:
    """Whether a lost database could be brought back, and what to do; nothing for a server, which has backups of its own."""
    if not storage.copy:
        if not find_store_address():
            yield "ok", "turned off: without an export a lost database is lost", ""
    elif any(ticket.owner for ticket in queue.tickets()):
        yield "ok", "not compared while a worker writes it", ""
    elif problems := storage.copy.list_problems():
        yield "warn", f"{problems[0]} ({len(problems)} in all)", COPY_ADVICE
    else:
        yield "ok", "if the database is lost, `afresh import` brings it back", ""
