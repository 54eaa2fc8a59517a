"""Reads an export and believes nothing of it that does not prove itself. Nothing is written here."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from afresh.adapters.exports import layout
from afresh.adapters.exports.layout import AGAIN, QUEUE, UNCHANGED, Manifest, Row
from afresh.adapters.exports.lines import NONSENSE, Place, blocks, complete, entries
from afresh.adapters.workspace.moved import ID, Work, fits
from afresh.domain.codec import dumps
from afresh.domain.event import Entry
from afresh.domain.fold import fold
from afresh.domain.notes import NOTEBOOK
from afresh.domain.state import State
from afresh.errors import Damaged


@dataclass(frozen=True, slots=True)
class Journal:
    """A journal as it came, with the texts that it names."""

    entries: tuple[Entry, ...]
    blocks: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Brought:
    """A task as it came."""

    row: Row
    journal: Journal
    state: State
    work: Work | None


def tasks(folder: Path, manifest: Manifest) -> Iterator[Brought]:
    """One after the other, each checked to the end before it is given out."""
    for row in manifest.tasks:
        yield task(folder, row)


def task(folder: Path, row: Row) -> Brought:
    journal = _journal(folder, row)
    state = _folded(folder, row, journal.entries)
    return Brought(row, journal, state, _work(folder, row, state))


def notebook(folder: Path, manifest: Manifest) -> tuple[Entry, ...]:
    if manifest.notebook is None:
        return ()
    place = Place(str(folder / layout.NOTEBOOK))
    return tuple(entries(layout.read(folder, layout.NOTEBOOK), place, NOTEBOOK, manifest.notebook))


def _journal(folder: Path, row: Row) -> Journal:
    told, held = layout.journal_file(row.id), layout.blocks_file(row.id)
    place = Place(str(folder / told))
    found = tuple(entries(layout.read(folder, told), place, row.id, row.journal))
    texts = blocks(layout.read(folder, held), Place(str(folder / held)))
    complete(found, texts, place, row.journal)
    return Journal(found, texts)


def _folded(folder: Path, row: Row, entries: tuple[Entry, ...]) -> State:
    place = Place(str(folder / layout.journal_file(row.id)))
    try:
        state = fold(None, entries)
    except NONSENSE as fault:
        raise place.wrong(len(entries), f"does not tell a task's story: {type(fault).__name__} {fault}") from None
    if state.task.id != row.id:
        raise place.wrong(1, f"creates the task {state.task.id!r}")
    order = state.task
    for name, said, told in (
        ("goal", row.goal, order.goal), ("type", row.type, order.type), ("priority", row.priority, order.priority),
        ("needs", row.needs, order.needs), ("status", row.status, state.status),
    ):  # fmt: skip
        if said != told:
            what = f"{folder / QUEUE}: task {row.id}: {name} is {dumps(said)}, its journal says {dumps(told)}"
            raise Damaged(what, next=AGAIN, safe=UNCHANGED)
    return state


def _work(folder: Path, row: Row, state: State) -> Work | None:
    if not row.patch:
        return None
    if not all(map(ID.fullmatch, (state.snapshot, state.opened))) or (
        row.commit and not ID.fullmatch(state.commit)
    ):  # they become names of files
        raise Place(str(folder / layout.journal_file(row.id))).wrong(row.journal.entries, "names no snapshot or commit of git")
    patch_file, commit_file = layout.patch_file(row.id, state.snapshot), layout.commit_file(row.id, state.commit)
    before = layout.read(folder, layout.before_file(row.id, state.opened)) if row.before else b""
    work = Work(layout.read(folder, patch_file), layout.read(folder, commit_file) if row.commit else b"", before)
    if row.before and sha256(before).hexdigest() != row.before:
        raise Place(str(folder / layout.before_file(row.id, state.opened))).wrong(1, f"is not the patch that {QUEUE} speaks of")
    if sha256(work.patch).hexdigest() != row.patch:
        raise Place(str(folder / patch_file)).wrong(1, f"is not the patch that {QUEUE} speaks of")
    if row.commit and not (row.commit == state.commit and fits(work, row.commit)):
        raise Place(str(folder / commit_file)).wrong(1, "is not the commit that the journal names")
    return work
