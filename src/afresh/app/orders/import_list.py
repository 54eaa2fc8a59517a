"""Adds the tasks of a list: a checklist, JSON, failing tests or violations. All of them or none, and each once."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path

from afresh.app.orders.check_order import OrderTerms
from afresh.app.orders.read_issue import MAX_TITLE_CHARACTERS, make_issue, read_given_text
from afresh.app.orders.tasks import TaskOrder, make_task_id, prepare_order
from afresh.app.project import Project
from afresh.app.queue.queue_place import find_cycle
from afresh.app.queue.read_tasks import find_ticket
from afresh.config.task_lists.checklist import parse_checklist
from afresh.config.task_lists.listed_task import ListedTask, make_fault, make_key
from afresh.config.task_lists.task_file import parse_task_file
from afresh.core.event import Event, JournalEntry, JournalHead, TaskCreated
from afresh.core.hash_chain import link_events
from afresh.core.reducer import fold_entries
from afresh.core.state import State
from afresh.core.states.queue_state import PlaceChanged, QueuePlace
from afresh.core.task import IssueAttached, QueueTicket, Task
from afresh.errors import BadInput
from afresh.views.write_files import ALL_TASKS

SUFFIX_CHARACTERS = 8
JSON_SUFFIX = ".json"
EMPTY_ORDER = TaskOrder("")


@dataclass(frozen=True, slots=True)
class TaskList:
    """Tasks to be added."""

    name: str
    """The file, as errors name it."""
    tasks: Sequence[ListedTask]
    origin: str
    """With the key of a task it makes the id: the same list gives the same ids."""
    own: bool = False
    """Its words are the user's orders. Otherwise they are data, as those of an issue are."""
    order: TaskOrder = EMPTY_ORDER
    """The order for all tasks of the list."""
    again: bool = False
    """A task that is over is added anew: what was found has come back."""


@dataclass(frozen=True, slots=True)
class PlannedTask:
    task: Task
    events: Sequence[Event]
    line: int


@dataclass(frozen=True, slots=True)
class ListImport:
    added: Sequence[PlannedTask]
    """The added tasks, in the order of the list."""
    known: Sequence[QueueTicket]
    """Tasks of the list that were there already."""


def read_task_list(project: Project, path: str, own: bool, order: TaskOrder = EMPTY_ORDER) -> TaskList:
    """Read a checklist or JSON from a file, or from standard input for `-`: JSON begins with a bracket."""
    text = read_given_text(path)
    name = "stdin" if path == "-" else path
    is_json = path.endswith(JSON_SUFFIX) or (text.lstrip()[:1] in ("{", "[") and not text.lstrip().startswith("[ ]"))
    tasks = parse_task_file(text, name, project.clock.now(), own) if is_json else parse_checklist(text, name)
    return TaskList(name, tasks, _name_origin(project.paths.root, path), own and is_json, order)


def _name_origin(root: Path, path: str) -> str:
    """The file as the repository names it, so that a list is the same from every folder."""
    place = Path(path).resolve()
    return str(place.relative_to(root)) if path != "-" and place.is_relative_to(root) else Path(path).name


def add_task_list(
    project: Project,
    task_list: TaskList,
    terms: OrderTerms,
    dry_run: bool = False,
    tell: Callable[[str], None] = lambda text: None,
) -> ListImport:
    """Check every task of the list, then add those that are not there yet in one transaction. BadInput names the line of a task
    that can't be added, and then none is."""
    _refuse_cycle(task_list)
    with project.view_writer.writing(ALL_TASKS):
        with project.storage.transaction():
            named = {task.key: _name_task(project, task_list, task) for task in task_list.tasks}
            ids = {key: name for key, (name, _) in named.items()}
            known = {key: ticket for key, (_, ticket) in named.items() if ticket}
            new = [task for task in task_list.tasks if task.key not in known]
            planned = list[PlannedTask]()
            for number, task in enumerate(new, 1):
                tell(f"reading task {number:,} of {len(new):,}")
                planned.append(_plan_task(project, task_list, task, ids, terms))
            states = [] if dry_run else [_append_task(project, planned_task) for planned_task in planned]
        for number, (state, entries) in enumerate(states, 1):  # after the commit: of a refused list nothing is left
            tell(f"writing the files of task {number:,} of {len(states):,}")
            project.facts.saw(state, entries)
            project.view_writer.saw(state, entries)
    return ListImport(planned, [*known.values()])


def _name_task(project: Project, task_list: TaskList, task: ListedTask) -> tuple[str, QueueTicket | None]:
    """The id of a task of the list, and its ticket if it is there already."""
    for time in count(1):
        key = make_key(task_list.origin, task.key, *([str(time)] if time > 1 else []))
        name = make_task_id(task.name or task.goal, key[:SUFFIX_CHARACTERS])
        ticket = find_ticket(project.queue, name)
        if ticket is None or not (task_list.again and ticket.status.over):
            return name, ticket
    raise AssertionError("counting does not end")


def _refuse_cycle(task_list: TaskList) -> None:
    needs, lines = {task.key: task.needs for task in task_list.tasks}, {task.key: task for task in task_list.tasks}
    if cycle := find_cycle(needs, lambda key: needs.get(key, ())):
        named = " needs ".join(lines[key].name or lines[key].goal for key in cycle[:8])
        raise make_fault(task_list.name, lines[cycle[0]].line, f"these tasks would wait for each other: {named}")


def _plan_task(
    project: Project, task_list: TaskList, listed: ListedTask, ids: Mapping[str, str], terms: OrderTerms
) -> PlannedTask:
    base = task_list.order.place
    needs = (*base.needs, *(ids[key] for key in listed.needs))
    place = QueuePlace(
        listed.priority or base.priority,
        base.needs,
        tuple(dict.fromkeys((*listed.labels, *base.labels))),
        listed.due or base.due,
        listed.project or base.project,
    )
    goal, events = _word_task(task_list, listed)
    checks, type = listed.checks or task_list.order.checks, listed.type or task_list.order.type
    order = replace(task_list.order, goal=goal, type=type, checks=checks, place=place)
    try:
        task, recorded = prepare_order(project, order, terms if task_list.own else None, events)
    except BadInput as fault:
        raise make_fault(task_list.name, listed.line, f"{fault.what} ({fault.next})") from None
    if terms.without_check and not order.checks:
        task = replace(task, checks=())
    elif not task.checks and not task.report:
        raise make_fault(task_list.name, listed.line, "no check was given and none was found (pass --check or --no-check)")
    recorded = [replace(event, needs=needs) if isinstance(event, PlaceChanged) else event for event in recorded]
    return PlannedTask(replace(task, id=ids[listed.key], needs=needs), recorded, listed.line)


def _word_task(task_list: TaskList, listed: ListedTask) -> tuple[str, list[Event]]:
    """The goal, and the text as data unless it is the user's own."""
    text = f"{listed.goal}\n\n{listed.details}" if listed.details else listed.goal
    if task_list.own:
        return text, []
    body = listed.details if len(listed.goal) <= MAX_TITLE_CHARACTERS else text
    issue = replace(make_issue(listed.goal, body), source=f"{task_list.name}:{listed.line}")
    return issue.title, [IssueAttached(issue)]


def _append_task(project: Project, planned: PlannedTask) -> tuple[State, Sequence[JournalEntry]]:
    created = [TaskCreated(planned.task), *planned.events]
    entries = link_events(planned.task.id, JournalHead(), project.clock.now(), created)
    state = fold_entries(None, entries)
    project.store.append(entries, (), state)
    return state, entries
