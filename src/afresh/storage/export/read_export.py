"""Reads an export and believes nothing of it that does not prove itself. Nothing is written here."""

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from afresh.core.codec import to_canonical_json
from afresh.core.event import JournalEntry
from afresh.core.fact import NOTEBOOK_JOURNAL
from afresh.core.reducer import fold_entries
from afresh.core.state import State
from afresh.core.work_transfer import GIT_OBJECT_ID, TaskWork, has_commit_of_id
from afresh.storage.export.journal_lines import DECODE_ERRORS, check_blocks_present, parse_blocks, parse_entries
from afresh.storage.export.manifest import (
    NOTEBOOK_FILE,
    QUEUE_FILE,
    ExportedTaskRow,
    ExportManifest,
    make_export_error,
    name_blocks_file,
    name_journal_file,
    name_work_files,
    read_export_file,
)


@dataclass(frozen=True, slots=True)
class ExportedTask:
    """A task as it came, with the texts that its journal names."""

    row: ExportedTaskRow
    entries: tuple[JournalEntry, ...]
    blocks: Mapping[str, str]
    state: State
    work: TaskWork | None


def read_notebook(folder: Path, manifest: ExportManifest) -> tuple[JournalEntry, ...]:
    if manifest.notebook is None:
        return ()
    data = read_export_file(folder, NOTEBOOK_FILE)
    return tuple(parse_entries(data, folder / NOTEBOOK_FILE, NOTEBOOK_JOURNAL, manifest.notebook))


def read_task(folder: Path, row: ExportedTaskRow) -> ExportedTask:
    """Checked to the end before it is given out."""
    journal, archive = name_journal_file(row.id), name_blocks_file(row.id)
    entries = tuple(parse_entries(read_export_file(folder, journal), folder / journal, row.id, row.journal))
    blocks = parse_blocks(read_export_file(folder, archive), folder / archive)
    check_blocks_present(entries, blocks, folder / journal, row.journal)
    state = _fold_journal(folder, row, entries)
    return ExportedTask(row, entries, blocks, state, _read_work(folder, row, state))


def _fold_journal(folder: Path, row: ExportedTaskRow, entries: tuple[JournalEntry, ...]) -> State:
    path = folder / name_journal_file(row.id)
    try:
        state = fold_entries(None, entries)
    except DECODE_ERRORS as fault:
        raise make_export_error(path, f"does not tell a task's story: {type(fault).__name__} {fault}", len(entries)) from None
    order = state.task
    if order.id != row.id:
        raise make_export_error(path, f"creates the task {order.id!r}", 1)
    for name, said, told in (
        ("goal", row.goal, order.goal), ("type", row.type, order.type), ("priority", row.priority, order.priority),
        ("needs", row.needs, order.needs), ("status", row.status, state.status),
    ):  # fmt: skip
        if said != told:
            what = f"task {row.id}: {name} is {to_canonical_json(said)}, its journal says {to_canonical_json(told)}"
            raise make_export_error(folder / QUEUE_FILE, what)
    return state


def _read_work(folder: Path, row: ExportedTaskRow, state: State) -> TaskWork | None:
    if not row.patch:
        return None
    tree = state.workspace
    ids = (tree.snapshot, tree.first_snapshot, *([tree.commit] if row.commit else []))
    if not all(map(GIT_OBJECT_ID.fullmatch, ids)):  # they become names of files
        raise make_export_error(folder / name_journal_file(row.id), "names no snapshot or commit of git", row.journal.entries)
    names = name_work_files(row.id, state)
    parts = {part: read_export_file(folder, name) for part, name in names.items() if getattr(row, part)}
    for part in ("patch", "before"):
        if part in parts and sha256(parts[part]).hexdigest() != getattr(row, part):
            raise make_export_error(folder / names[part], f"is not the patch that {QUEUE_FILE} speaks of", 1)
    work = TaskWork(**parts)
    if row.commit and not (row.commit == tree.commit and has_commit_of_id(work, row.commit)):
        raise make_export_error(folder / names["commit"], "is not the commit that the journal names", 1)
    return work
