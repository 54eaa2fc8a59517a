"""All projections anew, from the journals alone."""

from collections.abc import Sequence
from pathlib import Path

from afresh.domain.event import Checkpointed
from afresh.domain.fold import fold
from afresh.domain.state import State
from afresh.ports import UNTOLD, Lore, Store, Ticket
from afresh.projections import context_index, continuity, decisions, files
from afresh.projections.history import history
from afresh.projections.told import told_by
from afresh.projections.writer import FOLDERS, write_checkpoint, write_continuity, write_memory, write_task

_OURS = (
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


def rebuild(store: Store, tickets: Sequence[Ticket], folder: Path, lore: Lore = UNTOLD) -> int:
    """Delete and make again; the number of tasks. BadInput if a folder of ours is a link."""
    files.refuse_links(folder, *(folder / name for name in FOLDERS))
    for pattern in _OURS:
        for path in folder.glob(pattern):
            path.unlink()
    states = {ticket.task: _rebuilt(store, ticket.task, folder) for ticket in tickets}
    with files.locked(folder / "continuity.lock"):
        write_continuity(folder, continuity.render(tickets, states.__getitem__, told_by(lore)))
        write_memory(folder, history("", {}, tickets, states.__getitem__), lore)
    return len(states)


def _rebuilt(store: Store, task: str, folder: Path) -> State:
    entries = list(store.journal(task))
    last = max((place for place, entry in enumerate(entries) if isinstance(entry.event, Checkpointed)), default=0)
    state = fold(None, entries[: last + 1])
    write_checkpoint(folder, state, entries[last])
    state = fold(state, entries[last + 1 :])
    text = "".join(decisions.lines(entries))
    if text:
        files.replace(folder / "decisions" / f"{files.file_name(task)}.jsonl", text)
    write_task(folder, state)
    files.replace(
        folder / "context" / f"{files.file_name(task)}.json", context_index.render(state, context_index.last_call(entries))
    )
    return state
