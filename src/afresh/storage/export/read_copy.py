"""Reads what is imported: an export, or the copy that was written by itself, as far as its hashes and texts confirm it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

from afresh.core.archived_block import find_block_ids
from afresh.core.event import JournalEntry
from afresh.core.fact import NOTEBOOK_JOURNAL
from afresh.core.reducer import fold_entries
from afresh.errors import Damaged, TryAgain
from afresh.storage.export import copy_files
from afresh.storage.export.manifest import (
    NOTEBOOK_FILE,
    QUEUE_FILE,
    ExportedTaskRow,
    ExportManifest,
    JournalExtent,
    name_blocks_file,
    name_journal_file,
    read_manifest,
    refuse_linked_folders,
)
from afresh.storage.export.read_export import DECODE_ERRORS, ExportedTask, parse_entries, read_notebook, read_task

SET_ASIDE_SUFFIX = ".old"


def read_copied_manifest(folder: Path) -> ExportManifest:
    """What can be brought back, in the order of the queue."""
    refuse_linked_folders(folder)
    rows = list[ExportedTaskRow]()
    for task in copy_files.list_copied_tasks(folder):
        if found := read_copied_task(folder, task, len(rows) + 1):
            rows.append(found.row)
    notes = read_copied_entries(folder / NOTEBOOK_FILE, NOTEBOOK_JOURNAL)
    return ExportManifest(tuple(rows), JournalExtent(len(notes), notes[-1].hash) if notes else None)


def read_copied_task(folder: Path, task: str, number: int) -> ExportedTask | None:
    """None if not even its first entry can be used."""
    texts = copy_files.read_texts(copy_files.read_lines(folder / name_blocks_file(task)))
    entries = read_copied_entries(folder / name_journal_file(task), task)
    entries = tuple(takewhile(lambda entry: all(name in texts for name in find_block_ids(entry.body)), entries))
    try:
        state = fold_entries(None, entries) if entries else None
    except DECODE_ERRORS:
        state = None
    if state is None or state.task.id != task:
        return None
    missing = tuple(name for name, text in texts.items() if text is None)
    row = ExportedTaskRow(
        id=task, number=number, goal=state.task.goal, type=state.task.type, status=state.status, priority=state.task.priority,
        needs=state.task.needs, journal=JournalExtent(len(entries), entries[-1].hash, len(texts), missing),
    )  # fmt: skip
    return ExportedTask(row, entries, {name: text for name, text in texts.items() if text is not None}, state, None)


def read_copied_entries(path: Path, task: str) -> Sequence[JournalEntry]:
    """The entries as far as their chain holds and each can be understood."""
    data = copy_files.read_lines(path)
    head, length = copy_files.find_chain(data)
    entries = list[JournalEntry]()
    try:
        for entry in parse_entries(data[:length], path, task, JournalExtent(head.seq, head.hash)):
            entries.append(entry)
    except Damaged:
        pass  # what came before is whole
    return tuple(entries)


def count_unused_lines(folder: Path, manifest: ExportManifest) -> dict[str, int]:
    """Of each journal that can't be used as a whole, the lines that are left out; also of those that the manifest lacks. The
    notebook has no name."""
    used = _count_used_lines(manifest)
    found = {task: len(copy_files.read_lines(path).splitlines()) - used.get(task, 0) for task, path in _list_journals(folder)}
    return {task: count for task, count in found.items() if count}


def set_aside_unused(folder: Path, manifest: ExportManifest) -> None:
    """Cut each journal to the part that can be used, so that the copy goes on from there; the whole file is kept beside it."""
    used = _count_used_lines(manifest)
    for task, path in _list_journals(folder):
        data = copy_files.read_lines(path)
        kept = b"".join(data.splitlines(keepends=True)[: used.get(task, 0)])
        if kept != data:
            copy_files.replace_lines(path.with_name(path.name + SET_ASIDE_SUFFIX), data)
            copy_files.replace_lines(path, kept)
        if not kept:
            path.unlink(missing_ok=True)


def _list_journals(folder: Path) -> list[tuple[str, Path]]:
    notes = folder / NOTEBOOK_FILE
    found = [(task, folder / name_journal_file(task)) for task in copy_files.list_copied_tasks(folder)]
    return [*([("", notes)] if notes.exists() else []), *found]


def _count_used_lines(manifest: ExportManifest) -> dict[str, int]:
    notes = {"": manifest.notebook.entries} if manifest.notebook else {}
    return notes | {row.id: row.journal.entries for row in manifest.tasks}


@dataclass(frozen=True, slots=True)
class ImportSource:
    """An export, or a copy that was written by itself."""

    folder: Path
    manifest: ExportManifest
    copied: bool

    def read_task(self, row: ExportedTaskRow) -> ExportedTask:
        if not self.copied:
            return read_task(self.folder, row)
        found = read_copied_task(self.folder, row.id, row.number)
        if not found or found.row.journal.entries < row.journal.entries:
            raise TryAgain(f"{self.folder} changed during the import; nothing was imported; try again")
        return found

    def count_unused_lines(self) -> Mapping[str, int]:
        """By task; of an export every line counts, or it is refused."""
        return count_unused_lines(self.folder, self.manifest) if self.copied else {}

    def read_notebook(self) -> tuple[JournalEntry, ...]:
        if not self.copied:
            return read_notebook(self.folder, self.manifest)
        return tuple(read_copied_entries(self.folder / NOTEBOOK_FILE, NOTEBOOK_JOURNAL))


def open_import_source(folder: Path) -> ImportSource:
    copied = is_copy(folder)
    return ImportSource(folder, read_copied_manifest(folder) if copied else read_manifest(folder), copied)


def is_copy(folder: Path) -> bool:
    return not (folder / QUEUE_FILE).exists() and (folder / copy_files.ORDER_FILE).is_file()
