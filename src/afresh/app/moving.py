"""Tasks out to files and back in: exported, kept in git or copied, imported here or on another machine."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from afresh.adapters.exports import layout, read, write
from afresh.adapters.exports.layout import Manifest
from afresh.adapters.exports.read import Brought
from afresh.adapters.exports.write import Exported, Source
from afresh.adapters.store import notebook
from afresh.adapters.store.archive import named
from afresh.adapters.store.restore import Comparison, Relation, compared, hash_at, numbers, owner, placed, restore
from afresh.adapters.workspace import moved
from afresh.adapters.workspace.repository import Repository
from afresh.app.setup import rebuild
from afresh.app.tasks import Desk, find
from afresh.domain.event import Entry
from afresh.domain.state import State
from afresh.domain.task import Status
from afresh.errors import NeedsPerson, TryAgain

if TYPE_CHECKING:
    from sqlite3 import Connection

Telling = Callable[[str], None]


def default_folder(desk: Desk) -> Path:
    return desk.project.folder / "export"


def export_to(desk: Desk, folder: Path, tasks: Sequence[str] = (), told: Telling = lambda what: None) -> Exported:
    """All tasks, or these and what they wait for. The same store gives the same bytes."""
    with desk.database.reading() as connection:
        places = numbers(connection)
    wanted = _with_needs(desk, [find(desk, task) for task in tasks]) if tasks else set(places)
    repository = Repository.find(desk.project.root)

    def holds(task: str, seq: int, hash: str) -> bool:
        with desk.database.reading() as connection:
            return hash_at(connection, task, seq) == hash

    source = Source(
        journal=desk.store.journal,
        read=desk.store.read,
        work=lambda state: moved.pack(repository, state),
        holds=holds,
        notebook=desk.notebook.entries,
    )
    return write.export(folder, source, {task: place for task, place in places.items() if task in wanted}, told)


def _with_needs(desk: Desk, tasks: Sequence[str]) -> set[str]:
    """A task is of no use where what it waits for is unknown, nor a part without its whole."""
    tickets = desk.queue.tickets()
    needs = {ticket.task: [*ticket.needs] for ticket in tickets}
    for part in tickets:
        if part.parent in needs:
            needs[part.task].append(part.parent)
            needs[part.parent].append(part.task)
    found, left = set[str](), list(tasks)
    while left:
        task = left.pop()
        if task not in found and task in needs:
            found.add(task)
            left += needs[task]
    return found


@dataclass(frozen=True, slots=True)
class Arrival:
    """What an import has done about one task; `task` is empty for the notebook."""

    task: str
    relation: Relation
    entries: int
    """In the export."""
    here: int
    """Before the import."""
    status: Status | None = None
    parting: int = 0
    owner: str = ""
    """A worker that is at it here: so it was left alone."""
    note: str = ""
    """What stands in the way of going on with it."""

    @property
    def refused(self) -> bool:
        return self.relation is Relation.DIVERGED or bool(self.owner)

    @property
    def added(self) -> bool:
        return self.relation.adds and not self.owner

    @property
    def same(self) -> bool:
        return self.relation is Relation.SAME


def import_from(desk: Desk, folder: Path, told: Telling = lambda what: None) -> tuple[Arrival, ...]:
    """Everything is checked first; then all journals come in, in one transaction; then git, then the files for people."""
    manifest = layout.read_manifest(folder)
    plan = _plan(desk, folder, manifest, told)
    mark = desk.project.state / "import.unfinished"
    unfinished = mark.exists()
    mark.touch()
    _write(desk, folder, manifest, plan, told)
    arrivals = [_with_note(desk, arrival) for arrival in plan.arrivals]
    if unfinished or any(arrival.added for arrival in arrivals):
        told("writing the files for people")
        rebuild(desk)
    mark.unlink(missing_ok=True)
    return tuple(arrivals)


@dataclass(frozen=True, slots=True)
class Plan:
    arrivals: tuple[Arrival, ...]
    owners: Mapping[str, str]
    """For each block that comes in, the task that named it first: it is kept under that one."""
    parcels: tuple[tuple[State, moved.Work | None], ...]
    """The work that goes with what is here afterwards."""

    @property
    def adding(self) -> Mapping[str, Arrival]:
        return {arrival.task: arrival for arrival in self.arrivals if arrival.added}


def _plan(desk: Desk, folder: Path, manifest: Manifest, told: Telling) -> Plan:
    """Reads all of the export, so that a fault anywhere is found before anything is done."""
    arrivals: list[Arrival] = []
    parcels: list[tuple[State, moved.Work | None]] = []
    first: dict[str, tuple[float, str]] = {}
    if notes := read.notebook(folder, manifest):
        arrivals.append(_arrival(desk, "", notes, None))
    for count, brought in enumerate(read.tasks(folder, manifest), 1):
        told(f"checking {count} of {len(manifest.tasks)}: {brought.row.id}")
        arrival = _arrival(desk, brought.row.id, brought.journal.entries, brought.state.status)
        arrivals.append(arrival)
        if arrival.added or arrival.same:
            parcels.append((brought.state, brought.work))
        if arrival.added:
            for name, claim in _claims(brought, arrival.here):
                first[name] = min(claim, first.get(name, claim))
    return Plan(tuple(arrivals), {name: task for name, (_, task) in first.items()}, tuple(parcels))


def _claims(brought: Brought, here: int) -> Iterator[tuple[str, tuple[float, str]]]:
    for entry in brought.journal.entries[here:]:
        for name in named(entry.body):
            if name in brought.journal.blocks:
                yield name, (entry.at, brought.row.id)


def _arrival(desk: Desk, task: str, entries: Sequence[Entry], status: Status | None) -> Arrival:
    with desk.database.reading() as connection:
        found = compared(connection, task, entries)
        held = owner(connection, task, desk.clock.now()) if found.relation.adds else ""
    return Arrival(task, found.relation, len(entries), found.here, status, found.parting, held)


def _write(desk: Desk, folder: Path, manifest: Manifest, plan: Plan, told: Telling) -> None:
    """Read again, since memory need not hold it all; what has changed since it was checked is refused. The work goes first: a
    task that is here without it would be taken up without it."""
    repository, adding = Repository.find(desk.project.root), plan.adding
    for state, work in plan.parcels:
        moved.deliver(repository, state, work)
    if not adding:
        return
    payload = sum((folder / layout.blocks_file(task)).stat().st_size for task in adding if task)
    with desk.database.writing(payload) as connection:
        new = {row.id: row.number for row in manifest.tasks if row.id in adding and adding[row.id].relation is Relation.NEW}
        places = {**numbers(connection), **placed(connection, new)}
        if "" in adding:
            notes = read.notebook(folder, manifest)
            _unchanged(connection, adding[""], notes)
            notebook.add(connection, notes[adding[""].here :])
        for row in manifest.tasks:
            if row.id in adding:
                told(f"importing {row.id}")
                _bring_in(connection, desk, read.task(folder, row), plan, places[row.id])


def _bring_in(connection: "Connection", desk: Desk, brought: Brought, plan: Plan, number: int) -> None:
    task, arrival = brought.row.id, plan.adding[brought.row.id]
    _unchanged(connection, arrival, brought.journal.entries)
    if owner(connection, task, desk.clock.now()):
        raise TryAgain(f"{task} was taken up by a worker just now; nothing was imported: try again when it rests")
    texts = {name: text for name, text in brought.journal.blocks.items() if plan.owners.get(name) == task}
    restore(connection, brought.state, number, brought.journal.entries[arrival.here :], texts)


def _unchanged(connection: "Connection", arrival: Arrival, entries: Sequence[Entry]) -> None:
    expected = Comparison(arrival.relation, arrival.here, arrival.parting)
    if compared(connection, arrival.task, entries) != expected:
        raise TryAgain(f"{arrival.task or 'the notebook'} has changed while it was imported; nothing was imported: try again")


def _with_note(desk: Desk, arrival: Arrival) -> Arrival:
    """Make the task's tree of what came along; what is in the way is told, and tried again when the task is resumed."""
    if not arrival.task or arrival.refused:
        return arrival
    try:
        moved.unpack(Repository.find(desk.project.root), arrival.task)
    except NeedsPerson as fault:
        return replace(arrival, note=f"{fault.what}; {fault.next}")
    return arrival
