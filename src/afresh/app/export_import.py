"""Tasks out to files and back in: exported, kept in git or copied, imported here or on another machine."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from afresh.app.project import Project, rebuild_views
from afresh.app.tasks import find_task
from afresh.core import work_transfer
from afresh.core.event import JournalEntry
from afresh.core.state import State
from afresh.core.task import TaskStatus
from afresh.errors import NeedsPerson, TryAgain
from afresh.storage.export import manifest as manifest_module
from afresh.storage.export import read_export, write_export
from afresh.storage.export.manifest import ExportManifest
from afresh.storage.export.read_export import ExportedTask
from afresh.storage.export.write_export import ExportResult, ExportSource
from afresh.storage.sqlite import notebook
from afresh.storage.sqlite.blocks import find_block_ids
from afresh.storage.sqlite.import_journal import (
    JournalComparison,
    JournalRelation,
    assign_task_numbers,
    compare_journals,
    find_lease_holder,
    import_entries,
    list_task_numbers,
    read_entry_hash,
)
from afresh.workspace import transfer
from afresh.workspace.repository import Repository

if TYPE_CHECKING:
    from sqlite3 import Connection


ProgressCallback = Callable[[str], None]


def find_export_folder(desk: Project) -> Path:
    return desk.project.folder / "export"


def export_project_tasks(
    desk: Project, folder: Path, tasks: Sequence[str] = (), told: ProgressCallback = lambda what: None
) -> ExportResult:
    """All tasks, or these and what they wait for. The same store gives the same bytes."""
    with desk.database.reading() as connection:
        places = list_task_numbers(connection)
    wanted = _add_needed_tasks(desk, [find_task(desk, task) for task in tasks]) if tasks else set(places)
    repository = Repository.find(desk.project.root)

    def holds(task: str, seq: int, hash: str) -> bool:
        with desk.database.reading() as connection:
            return read_entry_hash(connection, task, seq) == hash

    source = ExportSource(
        journal=desk.store.journal,
        read=desk.store.read,
        work=lambda state: transfer.pack_work(repository, state),
        holds=holds,
        notebook=desk.notebook.entries,
    )
    return write_export.write_export(folder, source, {task: place for task, place in places.items() if task in wanted}, told)


def _add_needed_tasks(desk: Project, tasks: Sequence[str]) -> set[str]:
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
class ImportOutcome:
    """What an import has done about one task; `task` is empty for the notebook."""

    task: str
    relation: JournalRelation
    entries: int
    """In the export."""
    here: int
    """Before the import."""
    status: TaskStatus | None = None
    parting: int = 0
    owner: str = ""
    """A worker that is at it here: so it was left alone."""
    note: str = ""
    """What stands in the way of going on with it."""

    @property
    def refused(self) -> bool:
        return self.relation is JournalRelation.DIVERGED or bool(self.owner)

    @property
    def added(self) -> bool:
        return self.relation.adds and not self.owner

    @property
    def same(self) -> bool:
        return self.relation is JournalRelation.SAME


def import_project_tasks(desk: Project, folder: Path, told: ProgressCallback = lambda what: None) -> tuple[ImportOutcome, ...]:
    """Everything is checked first; then all journals come in, in one transaction; then git, then the files for people."""
    manifest = manifest_module.read_manifest(folder)
    plan = _plan_import(desk, folder, manifest, told)
    mark = desk.project.state / "import.unfinished"
    unfinished = mark.exists()
    mark.touch()
    _write_import(desk, folder, manifest, plan, told)
    arrivals = [_unpack_worktree(desk, arrival) for arrival in plan.arrivals]
    if unfinished or any(arrival.added for arrival in arrivals):
        told("writing the files for people")
        rebuild_views(desk)
    mark.unlink(missing_ok=True)
    return tuple(arrivals)


@dataclass(frozen=True, slots=True)
class ImportPlan:
    arrivals: tuple[ImportOutcome, ...]
    owners: Mapping[str, str]
    """For each block that comes in, the task that named it first: it is kept under that one."""
    parcels: tuple[tuple[State, work_transfer.TaskWork | None], ...]
    """The work that goes with what is here afterwards."""

    @property
    def adding(self) -> Mapping[str, ImportOutcome]:
        return {arrival.task: arrival for arrival in self.arrivals if arrival.added}


def _plan_import(desk: Project, folder: Path, manifest: ExportManifest, told: ProgressCallback) -> ImportPlan:
    """Reads all of the export, so that a fault anywhere is found before anything is done."""
    arrivals: list[ImportOutcome] = []
    parcels: list[tuple[State, work_transfer.TaskWork | None]] = []
    first: dict[str, tuple[float, str]] = {}
    if notes := read_export.read_notebook(folder, manifest):
        arrivals.append(_compare_with_store(desk, "", notes, None))
    for count, brought in enumerate(read_export.read_tasks(folder, manifest), 1):
        told(f"checking {count} of {len(manifest.tasks)}: {brought.row.id}")
        arrival = _compare_with_store(desk, brought.row.id, brought.journal.entries, brought.state.status)
        arrivals.append(arrival)
        if arrival.added or arrival.same:
            parcels.append((brought.state, brought.work))
        if arrival.added:
            for name, claim in _list_block_claims(brought, arrival.here):
                first[name] = min(claim, first.get(name, claim))
    return ImportPlan(tuple(arrivals), {name: task for name, (_, task) in first.items()}, tuple(parcels))


def _list_block_claims(brought: ExportedTask, here: int) -> Iterator[tuple[str, tuple[float, str]]]:
    for entry in brought.journal.entries[here:]:
        for name in find_block_ids(entry.body):
            if name in brought.journal.blocks:
                yield name, (entry.at, brought.row.id)


def _compare_with_store(desk: Project, task: str, entries: Sequence[JournalEntry], status: TaskStatus | None) -> ImportOutcome:
    with desk.database.reading() as connection:
        found = compare_journals(connection, task, entries)
        held = find_lease_holder(connection, task, desk.clock.now()) if found.relation.adds else ""
    return ImportOutcome(task, found.relation, len(entries), found.here, status, found.parting, held)


def _write_import(desk: Project, folder: Path, manifest: ExportManifest, plan: ImportPlan, told: ProgressCallback) -> None:
    """Read again, since memory need not hold it all; what has changed since it was checked is refused. The work goes first: a
    task that is here without it would be taken up without it."""
    repository, adding = Repository.find(desk.project.root), plan.adding
    for state, work in plan.parcels:
        transfer.deliver_work(repository, state, work)
    if not adding:
        return
    payload = sum((folder / manifest_module.name_blocks_file(task)).stat().st_size for task in adding if task)
    with desk.database.writing(payload) as connection:
        new = {
            row.id: row.number for row in manifest.tasks if row.id in adding and adding[row.id].relation is JournalRelation.NEW
        }
        places = {**list_task_numbers(connection), **assign_task_numbers(connection, new)}
        if "" in adding:
            notes = read_export.read_notebook(folder, manifest)
            _refuse_changed_journal(connection, adding[""], notes)
            notebook.insert_notes(connection, notes[adding[""].here :])
        for row in manifest.tasks:
            if row.id in adding:
                told(f"importing {row.id}")
                _restore_task(connection, desk, read_export.read_task(folder, row), plan, places[row.id])


def _restore_task(connection: "Connection", desk: Project, brought: ExportedTask, plan: ImportPlan, number: int) -> None:
    task, arrival = brought.row.id, plan.adding[brought.row.id]
    _refuse_changed_journal(connection, arrival, brought.journal.entries)
    if find_lease_holder(connection, task, desk.clock.now()):
        raise TryAgain(f"{task} was taken up by a worker just now; nothing was imported: try again when it rests")
    texts = {name: text for name, text in brought.journal.blocks.items() if plan.owners.get(name) == task}
    import_entries(connection, brought.state, number, brought.journal.entries[arrival.here :], texts)


def _refuse_changed_journal(connection: "Connection", arrival: ImportOutcome, entries: Sequence[JournalEntry]) -> None:
    expected = JournalComparison(arrival.relation, arrival.here, arrival.parting)
    if compare_journals(connection, arrival.task, entries) != expected:
        raise TryAgain(f"{arrival.task or 'the notebook'} has changed while it was imported; nothing was imported: try again")


def _unpack_worktree(desk: Project, arrival: ImportOutcome) -> ImportOutcome:
    """Make the task's tree of what came along; what is in the way is told, and tried again when the task is resumed."""
    if not arrival.task or arrival.refused:
        return arrival
    try:
        transfer.unpack_work(Repository.find(desk.project.root), arrival.task)
    except NeedsPerson as fault:
        return replace(arrival, note=f"{fault.what}; {fault.next}")
    return arrival
