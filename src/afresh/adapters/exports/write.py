"""Writes an export: whole files, each replaced at once, queue.json last. What an earlier export holds is never lost."""

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from afresh.adapters.exports import layout
from afresh.adapters.exports.layout import Extent, Manifest, Row
from afresh.adapters.exports.lines import entry_line, named_blocks
from afresh.adapters.workspace.moved import Work, moves
from afresh.adapters.workspace.trees import sync_folder
from afresh.domain.event import Entry
from afresh.domain.fold import fold
from afresh.domain.state import State
from afresh.errors import BadInput

PLAIN = b"* -text\n"
"""Git must not change line ends: entries are hashed."""
SPARE = ".new-"
"""How a file is called until it is whole; a killed export may leave one behind."""
OURS = {layout.QUEUE, layout.NOTEBOOK, layout.ATTRIBUTES, *layout.FOLDERS}


@dataclass(frozen=True, slots=True)
class Source:
    """Where an export comes from."""

    journal: Callable[[str], Iterable[Entry]]
    read: Callable[[str], str]
    """A block by its name; KeyError if there is none."""
    work: Callable[[State], Work | None]
    """What a task has changed; None when there is nothing to take along."""
    holds: Callable[[str, int, str], bool]
    """Whether the journal of this task (or the notebook) has this hash at this place."""
    notebook: Callable[[], Iterable[Entry]] = field(default=lambda: ())


@dataclass(frozen=True, slots=True)
class Exported:
    folder: Path
    tasks: int
    entries: int
    written: tuple[str, ...]
    """Files that are new or longer."""
    kept: int
    """Tasks of the export that this store does not know, left as they were."""
    workless: tuple[str, ...]
    """Tasks whose changes could not be taken along."""


def export(folder: Path, source: Source, numbers: dict[str, int], told: Callable[[str], None]) -> Exported:
    """`numbers`: the tasks to export, with their places in the queue."""
    before = _before(folder)
    _refuse_to_shorten(folder, before, source, numbers)
    _make(folder)
    writer = _Writer(folder)
    rows: list[Row] = []
    workless: list[str] = []
    for count, (task, number) in enumerate(numbers.items(), 1):
        told(f"exporting {count} of {len(numbers)}: {task}")
        row, whole = _task(writer, source, task, number)
        rows.append(row)
        workless += [] if whole else [task]
    others = [row for row in before.tasks if row.id not in numbers]
    notebook = _notebook(writer, source) or before.notebook
    writer.put(layout.ATTRIBUTES, PLAIN)
    writer.settle()
    writer.put(layout.QUEUE, layout.rendered(Manifest((*rows, *others), notebook)))
    writer.settle()
    _sweep(folder, {name for name in writer.named if name.startswith("work/")}, [row.id for row in rows])
    entries = sum(row.journal.entries for row in rows)
    return Exported(folder, len(rows), entries, tuple(writer.written), len(others), tuple(workless))


def _before(folder: Path) -> Manifest:
    layout.refuse_links(folder)
    if (folder / layout.QUEUE).exists():
        return layout.read_manifest(folder)
    found = {path.name for path in folder.iterdir() if not path.name.startswith(SPARE)} if folder.is_dir() else set[str]()
    strange = sorted(found - OURS)
    if strange:
        raise BadInput(
            f"{folder} is not an export, and not empty: it holds {strange[0]}",
            next="name a folder that is new or empty, or leave it out for .afresh/export",
            safe="nothing was written",
        )
    return Manifest()


def _refuse_to_shorten(folder: Path, before: Manifest, source: Source, numbers: dict[str, int]) -> None:
    """Somebody may have gone on with a task elsewhere: what is in the export is then ahead of us, or beside us."""
    extents = [(row.id, row.journal) for row in before.tasks if row.id in numbers]
    for task, extent in extents + ([("", before.notebook)] if before.notebook else []):
        if not source.holds(task, extent.entries, extent.head):
            raise BadInput(
                f"{folder} holds entries of {task or 'the notebook'} that this project does not have (up to {extent.entries})",
                next=f"`afresh import {folder}` first, or export to another folder",
                safe="nothing was written",
            )


def _make(folder: Path) -> None:
    try:
        for place in (folder, *(folder / name for name in layout.FOLDERS)):
            place.mkdir(parents=True, exist_ok=True)
            for spare in place.glob(f"{SPARE}*"):
                spare.unlink()
    except OSError as fault:
        raise BadInput(f"{folder} can't be written to: {fault.strerror}", next="name another folder") from fault


def _task(writer: "_Writer", source: Source, task: str, number: int) -> tuple[Row, bool]:
    """Blocks and work first: a journal is only as long as what it names is there."""
    entries = tuple(source.journal(task))
    state = fold(None, entries)
    blocks, missing = named_blocks(entries, source.read)
    work = source.work(state)
    writer.put(layout.blocks_file(task), "".join(blocks).encode())
    if work:
        writer.put(layout.patch_file(task, state.snapshot), work.patch)
    if work and work.before:
        writer.put(layout.before_file(task, state.opened), work.before)
    if work and work.commit:
        writer.put(layout.commit_file(task, state.commit), work.commit)
    writer.put(layout.journal_file(task), "".join(map(entry_line, entries)).encode())
    row = Row(
        id=task,
        number=number,
        goal=state.task.goal,
        type=state.task.type,
        status=state.status,
        priority=state.task.priority,
        needs=state.task.needs,
        journal=Extent(len(entries), state.head.hash, len(blocks), tuple(missing)),
        patch=sha256(work.patch).hexdigest() if work else "",
        before=sha256(work.before).hexdigest() if work and work.before else "",
        commit=state.commit if work and work.commit else "",
    )
    return row, bool(work) or not moves(state)


def _notebook(writer: "_Writer", source: Source) -> Extent | None:
    """What its facts cite came with the tasks that said so."""
    entries = tuple(source.notebook())
    if not entries:
        return None
    writer.put(layout.NOTEBOOK, "".join(map(entry_line, entries)).encode())
    return Extent(len(entries), entries[-1].hash)


class _Writer:
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
        spare = path.with_name(f"{SPARE}{os.getpid()}-{path.name}")
        try:
            with open(os.open(spare, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o644), "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            spare.replace(path)
        except OSError as fault:
            spare.unlink(missing_ok=True)
            raise BadInput(
                f"{path} can't be written: {fault.strerror}",
                next="see whether the disk is full, then export again",
                safe="the export is the one before",
            ) from fault
        self.written.append(name)
        self.unsettled.add(path.parent)

    def settle(self) -> None:
        """New names are on disk when this returns."""
        for folder in sorted(self.unsettled):
            sync_folder(folder)
        self.unsettled.clear()


def _sweep(folder: Path, wanted: set[str], tasks: Sequence[str]) -> None:
    """Remove the work of former exports of these tasks, now that nothing counts on it."""
    for path in (folder / "work").iterdir():
        stem = path.name.rsplit(".", 2)[0]
        if stem in tasks and path.suffix in (".patch", ".commit", ".before") and f"work/{path.name}" not in wanted:
            path.unlink()
