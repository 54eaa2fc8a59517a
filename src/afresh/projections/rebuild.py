"""All projections anew, from the journals alone."""

from collections.abc import Sequence
from pathlib import Path

from afresh.domain.event import CheckpointWritten
from afresh.domain.fold import fold_entries
from afresh.domain.state import State
from afresh.ports import EMPTY_FACT_INDEX, FactIndex, JournalStore, QueueTicket
from afresh.projections import context_index, continuity, decisions, files
from afresh.projections.history import update_history
from afresh.projections.told import read_rules_and_corrections
from afresh.projections.writer import (
    VIEW_FOLDERS,
    write_checkpoint_file,
    write_continuity_file,
    write_memory_files,
    write_task_files,
)

_VIEW_FILE_PATTERNS = (
    "sessions/*.md*",
    "sessions/archive/*.md*",
    "decisions/*.jsonl*",
    "tasks/*.json*",
    "checkpoints/*.md*",
    "context/*.json*",
    "continuity.json",
    ".continuity.json.*",
    "history.jsonl",
    ".history.jsonl.*",
    "project_memory.json",
    ".project_memory.json.*",
)
"""With what a killed writer has left half done."""


def rebuild_view_files(
    store: JournalStore, tickets: Sequence[QueueTicket], folder: Path, lore: FactIndex = EMPTY_FACT_INDEX
) -> int:
    """Delete and make again; the number of tasks. BadInput if a folder of ours is a link."""
    files.refuse_symlinks(folder, *(folder / name for name in VIEW_FOLDERS))
    for pattern in _VIEW_FILE_PATTERNS:
        for path in folder.glob(pattern):
            path.unlink()
    states = {ticket.task: _rebuild_task(store, ticket.task, folder) for ticket in tickets}
    with files.lock_file(folder / "continuity.lock"):
        write_continuity_file(folder, continuity.render_continuity(tickets, states.__getitem__, read_rules_and_corrections(lore)))
        write_memory_files(folder, update_history("", {}, tickets, states.__getitem__), lore)
    return len(states)


def _rebuild_task(store: JournalStore, task: str, folder: Path) -> State:
    entries = list(store.journal(task))
    last = max((place for place, entry in enumerate(entries) if isinstance(entry.event, CheckpointWritten)), default=0)
    state = fold_entries(None, entries[: last + 1])
    write_checkpoint_file(folder, state, entries[last])
    state = fold_entries(state, entries[last + 1 :])
    text = "".join(decisions.render_log_lines(entries))
    if text:
        files.replace_file(folder / "decisions" / f"{files.file_name_from_task(task)}.jsonl", text)
    write_task_files(folder, state)
    files.replace_file(
        folder / "context" / f"{files.file_name_from_task(task)}.json",
        context_index.render_context_index(state, context_index.find_last_call(entries)),
    )
    return state
