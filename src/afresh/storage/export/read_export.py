"""Reads an export, checks everything in it, and compares its journals with those that are here. Nothing is written."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from pathlib import Path

from afresh.core import hash_chain
from afresh.core.archived_block import block_id_from_text, find_block_ids
from afresh.core.codec import to_canonical_json
from afresh.core.event import (
    ChangeKeptOrReverted,
    Event,
    JournalEntry,
    JournalHead,
    TaskCreated,
    TaskEnded,
    WorkspaceOpened,
)
from afresh.core.fact import NOTEBOOK_JOURNAL
from afresh.core.heartbeat import ScheduleAdded
from afresh.core.reducer import fold_entries
from afresh.core.schedule import is_ever_due
from afresh.core.state import State
from afresh.core.states.supervision_state import RecoveredFromCheckpoint, StepsUndone
from afresh.core.task import StartChosen
from afresh.core.work_transfer import GIT_OBJECT_ID, TaskWork, has_commit_of_id
from afresh.errors import Damaged
from afresh.storage.export.manifest import (
    NOTEBOOK_FILE,
    QUEUE_FILE,
    ExportedTaskRow,
    ExportManifest,
    JournalExtent,
    find_type_mismatch,
    make_export_error,
    name_blocks_file,
    name_journal_file,
    name_work_files,
    read_export_file,
)

ENTRY_LINE = re.compile(r'\{"entry":(.*),"hash":"(.{64})"\}')
"""As `write_export.render_entry_line` writes it."""
ESCAPED_SURROGATE = re.compile(r"(?<!\\)(?:\\\\)*\\u[dD][89a-fA-F]")
"""An escaped surrogate: no hashed text has one, and it can't be stored."""
DECODE_ERRORS = (ValueError, TypeError, KeyError, AttributeError, AssertionError, RecursionError)
"""What reading raises for made-up entries whose hashes are right and whose content is not."""


def parse_entries(data: bytes, path: Path, task: str, extent: JournalExtent) -> Iterator[JournalEntry]:
    """The exported entries. An entry that does not continue the chain, or is of another journal, is an error."""
    head = JournalHead()
    for number, line in _split_lines(data, path, extent.entries):
        match = ENTRY_LINE.fullmatch(line)
        if match is None:
            raise make_export_error(path, "is not an entry with its hash", number)
        entry = _parse_entry(match[1], head, match[2], path, number)
        if (entry.task, entry.seq) != (task, number):
            raise make_export_error(
                path, f"is entry {entry.seq} of {entry.task!r}; entry {number} of {task!r} belongs here", number
            )
        head = JournalHead(entry.seq, entry.hash)
        yield entry
    if (head.seq, head.hash) != (extent.entries, extent.head):
        raise make_export_error(path, f"ends with {head.hash[:12]}; the export should end with {extent.head[:12]}", head.seq)


def _parse_entry(body: str, before: JournalHead, hash: str, path: Path, number: int) -> JournalEntry:
    try:
        entry = hash_chain.read_entry(body, before, hash)
        wrong = find_type_mismatch(entry.at, float) or find_type_mismatch(entry.event, type(entry.event))
    except Damaged as fault:
        raise make_export_error(path, fault.what, number) from None
    except DECODE_ERRORS as fault:
        raise make_export_error(path, f"can't be understood: {type(fault).__name__} {fault}", number) from None
    if wrong:
        raise make_export_error(
            path, f"can't be understood: {wrong.removesuffix('.value')} is of another kind than it should be", number
        )
    if wrong := explain_foreign_event(entry.event, entry.task):
        raise make_export_error(path, wrong, number)
    if ESCAPED_SURROGATE.search(body):
        raise make_export_error(path, "holds half a character", number)
    return entry


def explain_foreign_event(event: Event, task: str) -> str:
    """Why the event is of no use here; empty if it is. A made-up journal may name what git would not read as
    an object, or have a schedule that is never due."""
    if isinstance(event, WorkspaceOpened) and event.branch != f"afresh/{task}":
        return f"names {event.branch!r} as the branch of {task!r}"
    if name := next((name for name in list_git_objects(event) if name and not GIT_OBJECT_ID.fullmatch(name)), ""):
        return f"names {name!r}, which is no snapshot or commit of git"
    if isinstance(event, ScheduleAdded) and not is_ever_due(event.schedule):
        return f"has a schedule that is never due: {event.schedule.id!r}"
    return ""


def list_git_objects(event: Event) -> Iterator[str]:
    """The ids of commits and trees that the event names; those that are not known are empty."""
    match event:
        case TaskCreated(task):
            yield task.tree
        case StartChosen(start):
            yield from (start.base, start.carried, start.refused.commit if start.refused else "")
        case WorkspaceOpened(base, _, snapshot):
            yield from (base, snapshot)
        case ChangeKeptOrReverted() | StepsUndone():
            yield event.snapshot
        case TaskEnded():
            yield event.commit
        case RecoveredFromCheckpoint():
            yield event.left_snapshot
        case _:
            pass


def parse_blocks(data: bytes, path: Path) -> dict[str, str]:
    """Texts by id. A text that does not have the hash in its id is an error."""
    found: dict[str, str] = {}
    for number, line in _split_lines(data, path):
        try:
            plain = json.loads(line)
            name, text = plain["id"], plain["text"]
            sound = isinstance(text, str) and block_id_from_text(text) == name
        except DECODE_ERRORS as fault:
            raise make_export_error(path, f"can't be understood: {type(fault).__name__} {fault}", number) from None
        if not sound:
            raise make_export_error(path, f"block {str(name)[:32]} is not named by its content", number)
        found[name] = text
    return found


def check_blocks_present(told: Iterable[JournalEntry], held: dict[str, str], path: Path, extent: JournalExtent) -> None:
    """Every block that an entry names is there, but those that were missing before."""
    there = held.keys() | set(extent.missing)
    for entry in told:
        if absent := [name for name in find_block_ids(entry.body) if name not in there]:
            raise make_export_error(path, f"entry {entry.seq} names block {absent[0]}, which the export does not hold", entry.seq)


def _split_lines(data: bytes, path: Path, count: int | None = None) -> Iterator[tuple[int, str]]:
    """Numbered from 1. The first `count` of them must be there; what follows is of an export that did not come to its end."""
    *whole, rest = data.split(b"\n")
    if rest and (count is None or len(whole) < count):
        raise make_export_error(path, "the line is cut off", len(whole) + 1)
    if count is not None and len(whole) < count:
        raise make_export_error(path, f"the file ends here; it should have {count} lines", len(whole))
    for number, line in enumerate(whole[:count], 1):
        try:
            yield number, line.decode()
        except UnicodeDecodeError as fault:
            raise make_export_error(path, f"is not UTF-8: {fault.reason}", number) from None


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


class JournalRelation(StrEnum):
    NEW = "new"
    LONGER = "longer"
    """It goes on where ours ends."""
    SAME = "same"
    BEHIND = "behind"
    """Ours goes on where it ends."""
    DIVERGED = "diverged"
    UNUSABLE = "unusable"
    """Not even its first entry can be used."""

    @property
    def adds(self) -> bool:
        return self in (JournalRelation.NEW, JournalRelation.LONGER)


@dataclass(frozen=True, slots=True)
class JournalComparison:
    relation: JournalRelation
    here: int = 0
    """Entries that are here."""
    parting: int = 0
    """The first entry that differs."""


def compare_journals(here: Iterable[JournalEntry], there: Sequence[JournalEntry]) -> JournalComparison:
    ours = [entry.hash for entry in here]
    differing = (seq for seq, (one, other) in enumerate(zip(ours, there, strict=False), 1) if one != other.hash)
    if parting := next(differing, 0):
        return JournalComparison(JournalRelation.DIVERGED, len(ours), parting)
    if len(ours) == len(there):
        return JournalComparison(JournalRelation.SAME, len(ours))
    if len(ours) > len(there):
        return JournalComparison(JournalRelation.BEHIND, len(ours))
    return JournalComparison(JournalRelation.LONGER if ours else JournalRelation.NEW, len(ours))
