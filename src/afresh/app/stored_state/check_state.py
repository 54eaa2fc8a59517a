"""Checks everything that is stored for a project, and says what is damaged and whether it can be brought back."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from afresh.app.project import Project
from afresh.app.queue.read_tasks import find_user_folder
from afresh.app.spending.spending_ledger import find_missing_calls
from afresh.app.stored_state.lost_state import explain_empty_store
from afresh.core.archived_block import find_block_ids
from afresh.core.reducer import fold_entries
from afresh.core.state import State, make_ticket_detail
from afresh.core.task import QueueTicket
from afresh.core.text import format_count
from afresh.errors import Damaged, NotPossible
from afresh.storage.choose_storage import find_store_address
from afresh.storage.export.manifest import find_copy_folder
from afresh.storage.lessons.lesson_folder import LessonFolder
from afresh.storage.sql.fact_index import SqlFactIndex
from afresh.storage.sql.journal import SqlJournal
from afresh.storage.sql.schema import JOURNAL_FILE_NAME, LEDGER_FILE_NAME
from afresh.storage.sqlite.database import find_file_damage
from afresh.storage.sqlite.storage import FACTS_FILE_NAME, USER_NOTEBOOK_FILE_NAME, open_sqlite_facts
from afresh.views.file_io import find_stale_files, is_process_alive
from afresh.views.write_files import list_view_files, list_view_folders, rebuild_view_files
from afresh.workspace.repository import Repository
from afresh.workspace.transfer import find_tree_faults

SPARE_SHADOW_PATTERN = re.compile(r"checkout-([0-9]+)\.git")
"""Of a run that was started with the uncommitted changes of the checkout, and was killed just then."""


@dataclass(frozen=True, slots=True)
class StateProblem:
    what: str
    remedy: str
    """What `--repair` or a person can do about it."""
    repairable: bool = True


@dataclass(frozen=True, slots=True)
class AreaReport:
    """The check of one kind of stored things: how many were read, and the faults."""

    name: str
    checked: int
    unit: str
    problems: tuple[StateProblem, ...] = ()


@dataclass(frozen=True, slots=True)
class StateReport:
    areas: tuple[AreaReport, ...]
    damaged: tuple[str, ...]
    """Tasks whose journal does not match its hashes."""

    def find_area(self, name: str) -> AreaReport:
        return next(area for area in self.areas if area.name == name)

    @property
    def problems(self) -> int:
        return sum(len(area.problems) for area in self.areas)

    @property
    def repairable(self) -> int:
        return sum(problem.repairable for area in self.areas for problem in area.problems)


@dataclass(frozen=True, slots=True)
class _ReadTasks:
    """What could be read of all tasks."""

    states: Mapping[str, State]
    damaged: Mapping[str, str]
    entries: int
    blocks: int
    lost_blocks: Mapping[str, str] = field(default_factory=dict[str, str])


NEW_DATABASE = "the tasks that are whole are copied into a new database; the old file is kept beside it"
RESTORED = "it is restored from the export"
NOT_UNTIL_WHOLE = "not checked until the journals are whole"
NO_COPY = "no export has it: restore the database from a backup; its work is on its branch and in its snapshots"


def check_state(project: Project, exported: frozenset[str], tell: Callable[[str], None] = lambda what: None) -> StateReport:
    """`exported`: tasks that an export can bring back. Nothing is changed."""
    if find_store_address():
        raise NotPossible(
            "fsck checks and repairs the files of a project, and this one is kept on a server",
            next="`afresh doctor` verifies every journal there; the server's own tools check and restore its data",
            safe="nothing was changed",
        )
    tell("checking the files of the databases")
    files = _check_files(project)
    tell("checking journals and blocks")
    tickets = project.queue.tickets()
    read = _read_tasks(project, [ticket.task for ticket in tickets])
    areas = [files, *_check_journals(project, read, exported)]
    tell("checking tickets, snapshots and worktrees")
    areas += [_check_tickets(project, tickets, read), _check_trees(project, read)]
    tell("checking derived files")
    areas += [_check_views(project, read), _check_facts(project, read), _check_ledger(project)]
    areas += [_check_lessons(project), _check_leftovers(project), _check_copy(project, read)]
    return StateReport(tuple(areas), tuple(read.damaged))


def _check_files(project: Project) -> AreaReport:
    user = find_user_folder()
    paths = {
        project.paths.state / JOURNAL_FILE_NAME: NEW_DATABASE,
        project.paths.state / FACTS_FILE_NAME: "it is built again",
        user / LEDGER_FILE_NAME: "",
        user / USER_NOTEBOOK_FILE_NAME: "",
    }
    found = [(path, path.exists(), find_file_damage(path), remedy) for path, remedy in paths.items()]
    problems = tuple(
        StateProblem(f"{path}: {damage}", remedy or "restore it from a backup", bool(remedy))
        for path, _, damage, remedy in found
        if damage
    )
    return AreaReport("database", sum(there for _, there, _, _ in found), "files", problems)


def _read_tasks(project: Project, tasks: list[str]) -> _ReadTasks:
    states, damaged, lost = dict[str, State](), dict[str, str](), dict[str, str]()
    entries, seen = 0, set[str]()
    for task in tasks:
        try:
            project.store.check(task)
            past = list(project.store.journal(task))
            states[task] = fold_entries(None, past)
        except Damaged as fault:
            damaged[task] = fault.what
            continue
        entries += len(past)
        for name in dict.fromkeys(name for entry in past for name in find_block_ids(entry.body) if name not in seen):
            seen.add(name)
            with suppress(KeyError):  # older journals name blocks that were never kept
                try:
                    project.store.read(name)
                except Damaged as fault:
                    lost[name] = f"task {task}: {fault.what}"
    return _ReadTasks(states, damaged, entries, len(seen), lost)


def _check_journals(project: Project, read: _ReadTasks, exported: frozenset[str]) -> Iterator[AreaReport]:
    problems = [
        StateProblem(what, RESTORED if task in exported else NO_COPY, task in exported) for task, what in read.damaged.items()
    ]
    empty = explain_empty_store(project.queue, project.paths.folder / "export")
    if empty and empty.lost:
        problems.append(StateProblem(empty.what, empty.next, bool(exported)))
    yield AreaReport("journals", read.entries, f"entries of {format_count(len(read.states), 'task')}", tuple(problems))
    lost = tuple(StateProblem(what, "its text is gone; the task goes on without it", False) for what in read.lost_blocks.values())
    yield AreaReport("blocks", read.blocks, "archived texts", lost)
    wrong = list[StateProblem]()
    count = 0
    for book in (project.notebook, project.storage.user_notebook):
        try:
            count += sum(1 for _ in book.entries())
        except Damaged as fault:
            wrong.append(StateProblem(f"{book.name}: {fault.what}", "restore the database from a backup", False))
    yield AreaReport("notebooks", count, "entries", tuple(wrong))


def _check_tickets(project: Project, tickets: Sequence[QueueTicket], read: _ReadTasks) -> AreaReport:
    """The queue's rows and the stored states against what the journals say."""
    problems = list[StateProblem]()
    for ticket in tickets:
        if not (state := read.states.get(ticket.task)):
            continue
        if (ticket.status, ticket.detail) != (state.status, make_ticket_detail(state)):
            problems.append(StateProblem(f"task {ticket.task}: its row in the queue differs from its journal", NEW_DATABASE))
        elif project.store.load(ticket.task) != state:
            problems.append(StateProblem(f"task {ticket.task}: its stored state differs from its journal", NEW_DATABASE))
    return AreaReport("tickets", len(read.states), "rows against their journals", tuple(problems))


def _check_trees(project: Project, read: _ReadTasks) -> AreaReport:
    repository = Repository.find(project.paths.root)
    problems = tuple(
        StateProblem(
            f"task {task}: {fault}",
            f"`afresh export --task {task}` keeps its journal; `afresh resume {task}` tries it again",
            False,
        )
        for task, state in read.states.items()
        for fault in find_tree_faults(repository, state)
    )
    return AreaReport("trees", len(read.states), "tasks: snapshots, branches and worktrees", problems)


def _check_views(project: Project, read: _ReadTasks) -> AreaReport:
    """Write them again elsewhere, and compare. A worker may be writing them: those of a task at work are left out."""
    if read.damaged or not read.states:
        return AreaReport("views", 0, "files" + ("; not checked until the journals are whole" if read.damaged else ""))
    with TemporaryDirectory(prefix="afresh-fsck-") as folder:
        again = Path(folder)
        rebuild_view_files(project.store, project.queue, again, project.facts)
        here = {path.relative_to(project.paths.state): path for path in list_view_files(project.paths.state)}
        fresh = {path.relative_to(again): path for path in list_view_files(again)}
        names = sorted(here.keys() | fresh.keys())
        busy = any(ticket.owner for ticket in project.queue.tickets())
        wrong = [name for name in names if not busy and _read_bytes(here.get(name)) != _read_bytes(fresh.get(name))]
    problems = tuple(StateProblem(f"{name} differs from what the journals say", "it is written again") for name in wrong)
    return AreaReport("views", len(names), "files" + ("; not compared while a worker writes them" if busy else ""), problems)


def _read_bytes(path: Path | None) -> bytes | None:
    return path.read_bytes() if path else None


def _check_facts(project: Project, read: _ReadTasks) -> AreaReport:
    if read.damaged:
        return AreaReport("facts", 0, f"facts; {NOT_UNTIL_WHOLE}")
    index, journal = project.facts, project.store
    if not isinstance(index, SqlFactIndex) or not isinstance(journal, SqlJournal):
        return AreaReport("facts", 0, "facts; not checked in this kind of storage")
    with TemporaryDirectory(prefix="afresh-fsck-") as folder:
        again = open_sqlite_facts(Path(folder, FACTS_FILE_NAME), journal, (project.notebook, project.storage.user_notebook))
        here, there = Counter(index.list_rows()), Counter(again.list_rows())
        again.close()
    count, differing = there.total(), ((here - there) + (there - here)).total()
    what = f"{differing} facts of the index differ from what the journals say"
    return AreaReport("facts", count, "facts", (StateProblem(what, "it is built again"),) if differing else ())


def _check_copy(project: Project, read: _ReadTasks) -> AreaReport:
    """A worker may be writing: it commits before it copies."""
    copy, busy = project.storage.copy, any(ticket.owner for ticket in project.queue.tickets())
    if not copy or busy or read.damaged:
        why = "it is turned off" if not copy else "not compared while a worker writes it" if busy else NOT_UNTIL_WHOLE
        return AreaReport("copy", 0, f"tasks; {why}")
    problems = tuple(StateProblem(what, "what the database has is written again") for what in copy.list_problems())
    return AreaReport("copy", len(read.states), "tasks in the copy for a lost database", problems)


def _check_ledger(project: Project) -> AreaReport:
    missing = sum(len(call) for call in find_missing_calls(project))
    what = f"{missing} calls are in the journals but not in the spending ledger"
    return AreaReport("ledger", missing, "missing calls", (StateProblem(what, "they are entered"),) if missing else ())


def _check_lessons(project: Project) -> AreaReport:
    lesson_files = LessonFolder(project.paths.folder / "knowledge").held()
    problems = tuple(
        StateProblem(f"{lesson_file.path}: {fault}", "edit the file", False)
        for lesson_file in lesson_files
        for fault in map(str, lesson_file.read.notes)
    )
    return AreaReport("lessons", len(lesson_files), "files", problems)


def _check_leftovers(project: Project) -> AreaReport:
    stale = list_leftovers(project)
    problems = [StateProblem(f"{path} was left by a process that was killed", "it is removed") for path in stale]
    return AreaReport("leftovers", len(problems), "found", tuple(problems))


def list_leftovers(project: Project) -> list[Path]:
    """Temporary files and folders of processes that are gone. `doctor` names worktrees that nobody needs: they damage nothing."""
    state = project.paths.state
    stale_files = find_stale_files(*list_view_folders(state), find_copy_folder(project.paths.folder / "export"))
    for path in state.iterdir():
        match = SPARE_SHADOW_PATTERN.fullmatch(path.name)
        if match and path.is_dir() and not path.is_symlink() and not is_process_alive(int(match[1])):
            stale_files.append(path)
    return stale_files
