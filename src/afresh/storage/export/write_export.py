"""Writes an export: whole files, each replaced at once, queue.json last. What an earlier export holds is never lost."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice
from pathlib import Path

from afresh.core.archived_block import find_block_ids
from afresh.core.codec import to_canonical_json
from afresh.core.event import JournalEntry
from afresh.core.reducer import fold_entries
from afresh.core.state import State
from afresh.core.work_transfer import TaskWork, has_transferable_work
from afresh.errors import BadInput, Damaged
from afresh.ports.storage import Storage
from afresh.storage.export import manifest
from afresh.storage.export.manifest import ExportedTaskRow, ExportManifest, JournalExtent
from afresh.workspace.disk_files import TEMPORARY_PREFIX, replace_file, sync_folder

PLAIN_ATTRIBUTES = b"* -text\n"
"""Git must not change line ends: entries are hashed."""
EXPORT_NAMES = {manifest.QUEUE_FILE, manifest.NOTEBOOK_FILE, manifest.ATTRIBUTES_FILE, *manifest.EXPORT_FOLDERS}


@dataclass(frozen=True, slots=True)
class ExportSource:
    storage: Storage
    pack_work: Callable[[State], TaskWork | None]
    """What a task has changed; None when there is nothing to take along."""

    def read_entries(self, task: str) -> Iterator[JournalEntry]:
        """The entries of a task, or of the notebook if none is named."""
        return self.storage.journal.journal(task) if task else self.storage.notebook.entries()


@dataclass(frozen=True, slots=True)
class ExportResult:
    folder: Path
    tasks: int
    entries: int
    written: tuple[str, ...]
    """Files that are new or longer."""
    kept: int
    """Tasks of the export that this store does not know, left as they were."""
    workless: tuple[str, ...]
    """Tasks whose changes could not be taken along."""
    damaged: tuple[str, ...] = ()
    """What is wrong with the tasks that were left out; what an earlier export holds of them is kept."""


def write_export(folder: Path, source: ExportSource, numbers: dict[str, int], tell: Callable[[str], None]) -> ExportResult:
    """`numbers`: the tasks to export, with their places in the queue."""
    before = _read_previous_manifest(folder)
    damaged = _find_damaged_tasks(source, numbers)
    numbers = {task: number for task, number in numbers.items() if task not in damaged}
    _refuse_to_shorten(folder, before, source, numbers)
    _make_folders(folder)
    writer = _ExportWriter(folder)
    rows: list[ExportedTaskRow] = []
    workless: list[str] = []
    for count, (task, number) in enumerate(numbers.items(), 1):
        tell(f"exporting {count} of {len(numbers)}: {task}")
        row, whole = _write_task(writer, source, task, number)
        rows.append(row)
        workless += [] if whole else [task]
    others = [row for row in before.tasks if row.id not in numbers]
    notebook = _write_notebook(writer, source) or before.notebook
    writer.put(manifest.ATTRIBUTES_FILE, PLAIN_ATTRIBUTES)
    writer.settle()
    writer.put(manifest.QUEUE_FILE, manifest.render_manifest(ExportManifest((*rows, *others), notebook)))
    writer.settle()
    _remove_old_work(folder, {name for name in writer.named if name.startswith("work/")}, [row.id for row in rows])
    entries = sum(row.journal.entries for row in rows)
    kept = sum(row.id not in damaged for row in others)
    return ExportResult(folder, len(rows), entries, tuple(writer.written), kept, tuple(workless), tuple(damaged.values()))


def _find_damaged_tasks(source: ExportSource, numbers: dict[str, int]) -> dict[str, str]:
    """What is wrong with each damaged task: an export of the others must not wait for it."""
    tasks: dict[str, str] = {}
    for task in numbers:
        try:
            source.storage.journal.check(task)
        except Damaged as fault:
            tasks[task] = fault.what
    return tasks


def _read_previous_manifest(folder: Path) -> ExportManifest:
    manifest.refuse_linked_folders(folder)
    if (folder / manifest.QUEUE_FILE).exists():
        return manifest.read_manifest(folder)
    names = (
        {path.name for path in folder.iterdir() if not path.name.startswith(TEMPORARY_PREFIX)} if folder.is_dir() else set[str]()
    )
    strange = sorted(names - EXPORT_NAMES)
    if strange:
        raise BadInput(
            f"{folder} is not an export and not empty: it contains {strange[0]}",
            next="choose a new or empty folder, or omit it for .afresh/export",
            safe="nothing was written",
        )
    return ExportManifest()


def _refuse_to_shorten(folder: Path, before: ExportManifest, source: ExportSource, numbers: dict[str, int]) -> None:
    """Somebody may have gone on with a task elsewhere: what is in the export is then ahead of us, or beside us."""
    extents = {row.id: row.journal for row in before.tasks if row.id in numbers}
    for task, extent in (extents | ({"": before.notebook} if before.notebook else {})).items():
        last = next(islice(source.read_entries(task), extent.entries - 1, None), None)
        if last is None or last.hash != extent.head:
            raise BadInput(
                f"{folder} contains entries of {task or 'the notebook'} that this project does not have (up to {extent.entries})",
                next=f"`afresh import {folder}` first, or export to another folder",
                safe="nothing was written",
            )


def _make_folders(folder: Path) -> None:
    try:
        for place in (folder, *(folder / name for name in manifest.EXPORT_FOLDERS)):
            place.mkdir(parents=True, exist_ok=True)
            for spare in place.glob(f"{TEMPORARY_PREFIX}*"):
                spare.unlink()
    except OSError as fault:
        raise BadInput(f"{folder} can't be written to: {fault.strerror}", next="choose another folder") from fault


def _write_task(writer: "_ExportWriter", source: ExportSource, task: str, number: int) -> tuple[ExportedTaskRow, bool]:
    """Blocks and work first: a journal is only as long as what it names is there."""
    entries = tuple(source.read_entries(task))
    state = fold_entries(None, entries)
    blocks, missing = render_named_blocks(entries, source.storage.journal.read)
    writer.put(manifest.name_blocks_file(task), "".join(blocks).encode())
    work = source.pack_work(state)
    for part, name in manifest.name_work_files(task, state).items() if work else ():
        if part == "patch" or getattr(work, part):
            writer.put(name, getattr(work, part))
    writer.put(manifest.name_journal_file(task), "".join(map(render_entry_line, entries)).encode())
    row = ExportedTaskRow(
        id=task,
        number=number,
        goal=state.task.goal,
        type=state.task.type,
        status=state.status,
        priority=state.task.priority,
        needs=state.task.needs,
        journal=JournalExtent(len(entries), state.head.hash, len(blocks), tuple(missing)),
        patch=sha256(work.patch).hexdigest() if work else "",
        before=sha256(work.before).hexdigest() if work and work.before else "",
        commit=state.workspace.commit if work and work.commit else "",
    )
    return row, bool(work) or not has_transferable_work(state)


def _write_notebook(writer: "_ExportWriter", source: ExportSource) -> JournalExtent | None:
    """What its facts cite came with the tasks that said so."""
    entries = tuple(source.read_entries(""))
    if not entries:
        return None
    writer.put(manifest.NOTEBOOK_FILE, "".join(map(render_entry_line, entries)).encode())
    return JournalExtent(len(entries), entries[-1].hash)


def render_entry_line(entry: JournalEntry) -> str:
    """The entry's JSON exactly as it was hashed, and the hash."""
    return f'{{"entry":{entry.body},"hash":"{entry.hash}"}}\n'


def render_named_blocks(entries: Iterable[JournalEntry], read: Callable[[str], str]) -> tuple[list[str], list[str]]:
    """Lines for the blocks that entries name, in that order; and the names of blocks that the archive does not have."""
    lines: list[str] = []
    missing: list[str] = []
    for name in dict.fromkeys(name for entry in entries for name in find_block_ids(entry.body)):
        try:
            lines.append(f'{{"id":"{name}","text":{to_canonical_json(read(name))}}}\n')
        except KeyError:
            missing.append(name)
    return lines, missing


class _ExportWriter:
    """Replaces files whose content differs, and remembers which."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.named: set[str] = set()
        self.written: list[str] = []
        self.unsettled: set[Path] = set()

    def put(self, name: str, data: bytes) -> None:
        path = self.folder / name
        self.named.add(name)
        if path.is_file() and not path.is_symlink() and path.read_bytes() == data:
            return
        try:
            replace_file(path, data)
        except OSError as fault:
            raise BadInput(
                f"{path} can't be written: {fault.strerror}",
                next="check whether the disk is full, then export again",
                safe="the previous export is unchanged",
            ) from fault
        self.written.append(name)
        self.unsettled.add(path.parent)

    def settle(self) -> None:
        """New names are on disk when this returns."""
        for folder in sorted(self.unsettled):
            sync_folder(folder)
        self.unsettled.clear()


def _remove_old_work(folder: Path, wanted: set[str], tasks: Sequence[str]) -> None:
    """Remove the work of former exports of these tasks, now that nothing counts on it."""
    for path in (folder / "work").iterdir():
        stem = path.name.rsplit(".", 2)[0]
        if stem in tasks and path.suffix in (".patch", ".commit", ".before") and f"work/{path.name}" not in wanted:
            path.unlink()
