"""Exports tasks to files and imports them, on this or another machine."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from afresh.app.orders.tasks import find_task
from afresh.app.project import Project, rebuild_views
from afresh.app.queue.queue_place import find_cycle, refuse_cycle
from afresh.core.archived_block import Block, find_block_ids
from afresh.core.event import JournalEntry
from afresh.core.fact import NOTEBOOK_JOURNAL
from afresh.core.state import State
from afresh.core.task import QueueTicket, TaskStatus
from afresh.core.work_transfer import TaskWork
from afresh.errors import Conflict, NeedsPerson, TryAgain
from afresh.storage.export.copy_files import ORDER_FILE
from afresh.storage.export.manifest import (
    NOTEBOOK_FILE,
    QUEUE_FILE,
    ExportedTaskRow,
    ExportManifest,
    find_copy_folder,
    read_manifest,
)
from afresh.storage.export.read_copy import read_copied_entries, read_copied_manifest, read_copied_task, set_aside_unused
from afresh.storage.export.read_export import ExportedTask, JournalRelation, compare_journals, read_notebook, read_task
from afresh.storage.export.write_export import ExportResult, ExportSource, write_export
from afresh.workspace import transfer
from afresh.workspace.repository import Repository

ProgressCallback = Callable[[str], None]


def find_export_folder(project: Project) -> Path:
    return project.paths.folder / "export"


def export_project_tasks(
    project: Project, folder: Path, tasks: Sequence[str] = (), told: ProgressCallback = lambda what: None
) -> ExportResult:
    """Export all tasks, or the given ones with their dependencies. The same store gives the same bytes."""
    places = {ticket.task: place for place, ticket in enumerate(project.queue.tickets(), 1)}
    wanted = _add_needed_tasks(project, [find_task(project, task) for task in tasks]) if tasks else set(places)
    repository = Repository.find(project.paths.root)
    source = ExportSource(project.storage, lambda state: transfer.pack_work(repository, state))
    return write_export(folder, source, {task: place for task, place in places.items() if task in wanted}, told)


def _add_needed_tasks(project: Project, tasks: Sequence[str]) -> set[str]:
    """Return the tasks with everything they depend on, and subtasks with their parents."""
    tickets = project.queue.tickets()
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
    """The result of importing one task; `task` is empty for the notebook."""

    task: str
    relation: JournalRelation
    entries: int
    """Entries in the export."""
    here: int
    """Entries in this store before the import."""
    status: TaskStatus | None = None
    parting: int = 0
    owner: str = ""
    """A worker that holds the task here; the task was not imported."""
    note: str = ""
    """What prevents resuming the task."""

    @property
    def refused(self) -> bool:
        return self.relation is JournalRelation.DIVERGED or bool(self.owner)

    @property
    def added(self) -> bool:
        return self.relation.adds and not self.owner

    @property
    def same(self) -> bool:
        return self.relation is JournalRelation.SAME


def import_lost_tasks(project: Project, told: ProgressCallback = lambda what: None) -> tuple[ImportOutcome, ...]:
    """Import what the copy of this machine has, then what its export has beyond that."""
    export, found = find_export_folder(project), dict[str, ImportOutcome]()
    copy = find_copy_folder(export)
    places = [copy] if is_copy(copy) else []
    places += [export] if not places or (export / QUEUE_FILE).exists() else []
    for place in places:
        for outcome in import_project_tasks(project, place, told):
            if outcome.task not in found or outcome.added or outcome.refused:
                found[outcome.task] = outcome
    return tuple(found.values())


def import_project_tasks(project: Project, folder: Path, told: ProgressCallback = lambda what: None) -> tuple[ImportOutcome, ...]:
    """Check the whole export, then import all journals in one transaction, then the git objects, then write the view files."""
    source = open_import_source(folder)
    plan = _plan_import(project, source, told)
    mark = project.paths.state / "import.unfinished"
    unfinished = mark.exists()
    mark.touch()
    if source.copied and project.storage.copy and project.storage.copy.folder == folder:
        set_aside_unused(folder, source.manifest)
    _write_import(project, source, plan, told)
    outcomes = [_unpack_worktree(project, outcome) for outcome in plan.outcomes]
    if unfinished or any(outcome.added for outcome in outcomes):
        told("writing the files for people")
        rebuild_views(project)
    mark.unlink(missing_ok=True)
    return tuple(outcomes)


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

    def read_notebook(self) -> tuple[JournalEntry, ...]:
        if not self.copied:
            return read_notebook(self.folder, self.manifest)
        return tuple(read_copied_entries(self.folder / NOTEBOOK_FILE, NOTEBOOK_JOURNAL))


def open_import_source(folder: Path) -> ImportSource:
    copied = is_copy(folder)
    return ImportSource(folder, read_copied_manifest(folder) if copied else read_manifest(folder), copied)


def is_copy(folder: Path) -> bool:
    return not (folder / QUEUE_FILE).exists() and (folder / ORDER_FILE).is_file()


@dataclass(frozen=True, slots=True)
class ImportPlan:
    outcomes: tuple[ImportOutcome, ...]
    owners: Mapping[str, str]
    """For each imported block, the first task that refers to it; the block is stored under that task."""
    work: tuple[tuple[State, TaskWork | None], ...]
    """Git objects of the tasks that exist after the import."""

    @property
    def adding(self) -> Mapping[str, ImportOutcome]:
        return {outcome.task: outcome for outcome in self.outcomes if outcome.added}


def _plan_import(project: Project, source: ImportSource, told: ProgressCallback) -> ImportPlan:
    """Read the whole export, so that any fault is found before anything is written."""
    outcomes: list[ImportOutcome] = []
    work: list[tuple[State, TaskWork | None]] = []
    first: dict[str, tuple[float, str]] = {}
    if notes := source.read_notebook():
        found = compare_journals(project.notebook.entries(), notes)
        outcomes.append(ImportOutcome("", found.relation, len(notes), found.here, parting=found.parting))
    tickets = _list_tickets(project)
    rows = source.manifest.tasks
    for count, row in enumerate(rows, 1):
        told(f"checking {count} of {len(rows)}: {row.id}")
        brought = source.read_task(row)
        outcome = _compare_with_store(project, tickets, brought)
        outcomes.append(outcome)
        if outcome.added or outcome.same:
            work.append((brought.state, brought.work))
        if outcome.added:
            for name, claim in _list_block_claims(brought, outcome.here):
                first[name] = min(claim, first.get(name, claim))
    refuse_cycle_of_imports(tickets, [state for state, _ in work])
    return ImportPlan(tuple(outcomes), {name: task for name, (_, task) in first.items()}, tuple(work))


def refuse_cycle_of_imports(tickets: Mapping[str, QueueTicket], states: Sequence[State]) -> None:
    """Raise BadInput if tasks would wait for each other after the import: two machines may each have added a dependency."""
    open_needs = {task: ticket.needs for task, ticket in tickets.items() if not ticket.status.satisfies}
    open_needs |= {state.task.id: () if state.status.satisfies else state.place.needs for state in states}
    advice = "remove one dependency here with `afresh edit TASK --not-after TASK`, or there, and export again"
    cycle = find_cycle([state.task.id for state in states], lambda task: open_needs.get(task, ()))
    refuse_cycle(cycle, advice, "nothing was imported")


def _list_block_claims(brought: ExportedTask, here: int) -> Iterator[tuple[str, tuple[float, str]]]:
    for entry in brought.entries[here:]:
        for name in find_block_ids(entry.body):
            if name in brought.blocks:
                yield name, (entry.at, brought.row.id)


def _list_tickets(project: Project) -> dict[str, QueueTicket]:
    return {ticket.task: ticket for ticket in project.queue.tickets()}


def _compare_with_store(project: Project, tickets: Mapping[str, QueueTicket], brought: ExportedTask) -> ImportOutcome:
    task = brought.row.id
    found = compare_journals(project.store.journal(task) if task in tickets else (), brought.entries)
    held = _find_lease_holder(tickets, brought) if found.relation.adds else ""
    return ImportOutcome(task, found.relation, len(brought.entries), found.here, brought.state.status, found.parting, held)


def _find_lease_holder(tickets: Mapping[str, QueueTicket], brought: ExportedTask) -> str:
    """Return the live worker that holds the task or its parent."""
    ticket = tickets.get(brought.state.task.parent or brought.row.id)
    return ticket.owner if ticket else ""


def _write_import(project: Project, source: ImportSource, plan: ImportPlan, told: ProgressCallback) -> None:
    """Write an import. The export is read a second time, to save memory; files that changed since the check are refused. Git
    objects are written first, because a task without them would be resumed without its changes."""
    repository, adding = Repository.find(project.paths.root), plan.adding
    for state, work in plan.work:
        transfer.deliver_work(repository, state, work)
    if not adding:
        return
    try:
        with project.storage.transaction():
            if "" in adding:
                project.notebook.extend(source.read_notebook()[adding[""].here :])
            tickets = _list_tickets(project)
            for row in source.manifest.tasks:
                if row.id in adding:
                    told(f"importing {row.id}")
                    _restore_task(project, tickets, source.read_task(row), plan)
    except Conflict as fault:
        raise TryAgain(f"{fault}: the export changed during the import; nothing was imported; try again") from fault


def _restore_task(project: Project, tickets: Mapping[str, QueueTicket], brought: ExportedTask, plan: ImportPlan) -> None:
    task = brought.row.id
    if _find_lease_holder(tickets, brought):
        raise TryAgain(f"a worker has just started {task}; nothing was imported; try again when it has stopped")
    blocks = [Block(name, text) for name, text in brought.blocks.items() if plan.owners.get(name) == task]
    project.store.append(brought.entries[plan.adding[task].here :], blocks, brought.state)


def _unpack_worktree(project: Project, outcome: ImportOutcome) -> ImportOutcome:
    """Create the task's worktree from the import. Problems are reported, and it is tried again on resume."""
    if not outcome.task or outcome.refused:
        return outcome
    try:
        transfer.unpack_work(Repository.find(project.paths.root), outcome.task)
    except NeedsPerson as fault:
        return replace(outcome, note=f"{fault.what}; {fault.next}")
    return outcome
