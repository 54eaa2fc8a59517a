"""Exports tasks to files and imports them, on this or another machine."""

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from afresh.app.orders.tasks import find_task
from afresh.app.project import Project, rebuild_views
from afresh.app.queue.queue_place import find_cycle, refuse_cycle
from afresh.core.archived_block import Block, find_block_ids
from afresh.core.event import JournalEntry
from afresh.core.fact import FactKind, FactNoted
from afresh.core.heartbeat import ScheduleAdded
from afresh.core.state import State
from afresh.core.task import QueueTicket, TaskStatus
from afresh.core.work_transfer import TaskWork
from afresh.errors import Conflict, NeedsPerson, TryAgain
from afresh.storage.export.manifest import QUEUE_FILE, find_copy_folder
from afresh.storage.export.read_copy import ImportSource, is_copy, open_import_source, set_aside_unused
from afresh.storage.export.read_export import ExportedTask, JournalRelation, compare_journals
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
    opens: tuple[str, ...] = ()
    """What of the network it would open here, and nobody has allowed here; the task was not imported."""
    note: str = ""
    """What is not as it was, prevents resuming the task, or holds from now on."""

    @property
    def refused(self) -> bool:
        return self.relation in (JournalRelation.DIVERGED, JournalRelation.UNUSABLE) or bool(self.owner or self.opens)

    @property
    def added(self) -> bool:
        return self.relation.adds and not self.owner and not self.opens

    @property
    def same(self) -> bool:
        return self.relation is JournalRelation.SAME


def import_lost_tasks(
    project: Project, told: ProgressCallback = lambda what: None, allow_network: bool = False
) -> tuple[ImportOutcome, ...]:
    """Import what the copy of this machine has, then what its export has beyond that."""
    export, found = find_export_folder(project), dict[str, ImportOutcome]()
    copy = find_copy_folder(export)
    places = [copy] if is_copy(copy) else []
    places += [export] if not places or (export / QUEUE_FILE).exists() else []
    for place in places:
        for outcome in import_project_tasks(project, place, told, allow_network):
            if outcome.task not in found or outcome.added or outcome.refused:
                found[outcome.task] = outcome
    return tuple(found.values())


def import_project_tasks(
    project: Project, folder: Path, told: ProgressCallback = lambda what: None, allow_network: bool = False
) -> tuple[ImportOutcome, ...]:
    """Check the whole export, then import all journals in one transaction, then the git objects, then write the view files. A
    task that opens the network is left out unless it is allowed, or comes from this project's own copy."""
    source = open_import_source(folder)
    own = source.copied and project.storage.copy is not None and project.storage.copy.folder == folder
    plan = _plan_import(project, source, told, allow_network or own)
    mark = project.paths.make_state() / "import.unfinished"
    unfinished = mark.exists()
    mark.touch()
    if own:
        set_aside_unused(folder, source.manifest)
    _write_import(project, source, plan, told)
    outcomes = [_unpack_worktree(project, outcome) for outcome in plan.outcomes]
    if unfinished or any(outcome.added for outcome in outcomes):
        told("writing the files for people")
        rebuild_views(project)
    mark.unlink(missing_ok=True)
    return tuple(outcomes)


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


def _plan_import(project: Project, source: ImportSource, told: ProgressCallback, allow_network: bool) -> ImportPlan:
    """Read the whole export, so that any fault is found before anything is written."""
    outcomes: list[ImportOutcome] = []
    work: list[tuple[State, TaskWork | None]] = []
    first: dict[str, tuple[float, str]] = {}
    if notes := source.read_notebook():
        found = compare_journals(project.notebook.entries(), notes)
        note = describe_what_holds(notes[found.here :]) if found.relation.adds else ""
        outcomes.append(ImportOutcome("", found.relation, len(notes), found.here, parting=found.parting, note=note))
    tickets = _list_tickets(project)
    rows = source.manifest.tasks
    for count, row in enumerate(rows, 1):
        told(f"checking {count} of {len(rows)}: {row.id}")
        brought = source.read_task(row)
        outcome = _compare_with_store(project, tickets, brought, allow_network)
        outcomes.append(outcome)
        if outcome.added or outcome.same:
            work.append((brought.state, brought.work))
        if outcome.added:
            for name, claim in _list_block_claims(brought, outcome.here):
                first[name] = min(claim, first.get(name, claim))
    refuse_cycle_of_imports(tickets, [state for state, _ in work])
    here = {*tickets, *([""] if project.notebook.head().seq else [])}
    outcomes = name_unused_lines(outcomes, source.count_unused_lines(), here)
    return ImportPlan(tuple(outcomes), {name: task for name, (_, task) in first.items()}, tuple(work))


def name_unused_lines(outcomes: Sequence[ImportOutcome], unused: Mapping[str, int], here: Container[str]) -> list[ImportOutcome]:
    """The outcomes with what is left out of journals, and those of which nothing can be used and nothing is here."""
    known = {outcome.task for outcome in outcomes}
    said = {task: f"lines that can't be used: {count}; the whole file is kept" for task, count in unused.items()}
    named = [
        replace(one, note="; ".join(filter(None, (one.note, said.get(one.task, ""))))) if one.added else one for one in outcomes
    ]
    return [
        *named,
        *(ImportOutcome(task, JournalRelation.UNUSABLE, 0, 0) for task in unused if task not in known and task not in here),
    ]


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


def _compare_with_store(
    project: Project, tickets: Mapping[str, QueueTicket], brought: ExportedTask, allow_network: bool
) -> ImportOutcome:
    task = brought.row.id
    found = compare_journals(project.store.journal(task) if task in tickets else (), brought.entries)
    held = _find_lease_holder(tickets, brought) if found.relation.adds else ""
    opens = _list_new_permissions(project, task in tickets, brought) if found.relation.adds and not allow_network else ()
    return ImportOutcome(task, found.relation, len(brought.entries), found.here, brought.state.status, found.parting, held, opens)


def _list_new_permissions(project: Project, is_known: bool, brought: ExportedTask) -> tuple[str, ...]:
    """What the task may reach and could not here. What holds in every task follows from this user's own settings alone."""
    here = project.store.load(brought.row.id).dialogue.network.permissions if is_known else ()
    return tuple(one.words for one in brought.state.dialogue.network.permissions if not one.always and one not in here)


def describe_what_holds(entries: Sequence[JournalEntry]) -> str:
    """The rules and schedules that are new with these entries of a notebook, in words."""
    facts = [entry.event.fact for entry in entries if isinstance(entry.event, FactNoted)]
    rules = sum(fact.kind is FactKind.RULE for fact in facts)
    schedules = sum(isinstance(entry.event, ScheduleAdded) for entry in entries)
    parts = [f"rules for every prompt: {rules} (`afresh memory list`)"] if rules else []
    parts += [f"schedules: {schedules} (`afresh schedule list`)"] if schedules else []
    return "; ".join(parts)


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
