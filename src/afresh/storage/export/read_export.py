"""Reads an export and believes nothing of it that does not prove itself. Nothing is written here."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from afresh.core.codec import to_canonical_json
from afresh.core.event import JournalEntry
from afresh.core.fact import NOTEBOOK_JOURNAL
from afresh.core.reducer import fold_entries
from afresh.core.state import State
from afresh.core.work_transfer import GIT_OBJECT_ID, TaskWork, has_commit_of_id
from afresh.errors import Damaged
from afresh.storage.export import manifest
from afresh.storage.export import manifest as manifest_module
from afresh.storage.export.journal_lines import DECODE_ERRORS, ExportFile, check_blocks_present, parse_blocks, parse_entries
from afresh.storage.export.manifest import EXPORT_AGAIN_ADVICE, NOTHING_CHANGED_NOTE, QUEUE_FILE, ExportedTaskRow, ExportManifest


@dataclass(frozen=True, slots=True)
class ExportedJournal:
    """A journal as it came, with the texts that it names."""

    entries: tuple[JournalEntry, ...]
    blocks: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class ExportedTask:
    """A task as it came."""

    row: ExportedTaskRow
    journal: ExportedJournal
    state: State
    work: TaskWork | None


def read_tasks(folder: Path, manifest: ExportManifest) -> Iterator[ExportedTask]:
    """One after the other, each checked to the end before it is given out."""
    for row in manifest.tasks:
        yield read_task(folder, row)


def read_task(folder: Path, row: ExportedTaskRow) -> ExportedTask:
    journal = _read_journal(folder, row)
    state = _fold_journal(folder, row, journal.entries)
    return ExportedTask(row, journal, state, _read_work(folder, row, state))


def read_notebook(folder: Path, manifest: ExportManifest) -> tuple[JournalEntry, ...]:
    if manifest.notebook is None:
        return ()
    place = ExportFile(str(folder / manifest_module.NOTEBOOK_FILE))
    return tuple(
        parse_entries(
            manifest_module.read_export_file(folder, manifest_module.NOTEBOOK_FILE), place, NOTEBOOK_JOURNAL, manifest.notebook
        )
    )


def _read_journal(folder: Path, row: ExportedTaskRow) -> ExportedJournal:
    told, held = manifest.name_journal_file(row.id), manifest.name_blocks_file(row.id)
    place = ExportFile(str(folder / told))
    found = tuple(parse_entries(manifest.read_export_file(folder, told), place, row.id, row.journal))
    texts = parse_blocks(manifest.read_export_file(folder, held), ExportFile(str(folder / held)))
    check_blocks_present(found, texts, place, row.journal)
    return ExportedJournal(found, texts)


def _fold_journal(folder: Path, row: ExportedTaskRow, entries: tuple[JournalEntry, ...]) -> State:
    place = ExportFile(str(folder / manifest.name_journal_file(row.id)))
    try:
        state = fold_entries(None, entries)
    except DECODE_ERRORS as fault:
        raise place.wrong(len(entries), f"does not tell a task's story: {type(fault).__name__} {fault}") from None
    if state.task.id != row.id:
        raise place.wrong(1, f"creates the task {state.task.id!r}")
    order = state.task
    for name, said, told in (
        ("goal", row.goal, order.goal), ("type", row.type, order.type), ("priority", row.priority, order.priority),
        ("needs", row.needs, order.needs), ("status", row.status, state.status),
    ):  # fmt: skip
        if said != told:
            what = f"{folder / QUEUE_FILE}: task {row.id}: {name} is {to_canonical_json(said)}, its journal says {to_canonical_json(told)}"
            raise Damaged(what, next=EXPORT_AGAIN_ADVICE, safe=NOTHING_CHANGED_NOTE)
    return state


def _read_work(folder: Path, row: ExportedTaskRow, state: State) -> TaskWork | None:
    if not row.patch:
        return None
    if not all(map(GIT_OBJECT_ID.fullmatch, (state.workspace.snapshot, state.workspace.first_snapshot))) or (
        row.commit and not GIT_OBJECT_ID.fullmatch(state.workspace.commit)
    ):  # they become names of files
        raise ExportFile(str(folder / manifest.name_journal_file(row.id))).wrong(
            row.journal.entries, "names no snapshot or commit of git"
        )
    patch_file, commit_file = (
        manifest.name_patch_file(row.id, state.workspace.snapshot),
        manifest.name_commit_file(row.id, state.workspace.commit),
    )
    before = (
        manifest.read_export_file(folder, manifest.name_before_file(row.id, state.workspace.first_snapshot))
        if row.before
        else b""
    )
    work = TaskWork(
        manifest.read_export_file(folder, patch_file),
        manifest.read_export_file(folder, commit_file) if row.commit else b"",
        before,
    )
    if row.before and sha256(before).hexdigest() != row.before:
        raise ExportFile(str(folder / manifest.name_before_file(row.id, state.workspace.first_snapshot))).wrong(
            1, f"is not the patch that {QUEUE_FILE} speaks of"
        )
    if sha256(work.patch).hexdigest() != row.patch:
        raise ExportFile(str(folder / patch_file)).wrong(1, f"is not the patch that {QUEUE_FILE} speaks of")
    if row.commit and not (row.commit == state.workspace.commit and has_commit_of_id(work, row.commit)):
        raise ExportFile(str(folder / commit_file)).wrong(1, "is not the commit that the journal names")
    return work
