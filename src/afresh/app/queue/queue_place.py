"""Changes when a task has its turn: its priority, and the tasks that it waits for."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from socket import gethostname
from typing import TYPE_CHECKING

from afresh.app.queue.read_tasks import find_ticket
from afresh.core.states.queue_state import FIRST_COME, PlaceChanged, QueuePlace
from afresh.core.task import describe_worker
from afresh.errors import BadInput, NotPossible

if TYPE_CHECKING:
    from afresh.app.project import Project
    from afresh.core.state import State
    from afresh.ports.storage import TaskQueue

NOTHING_CHANGED = "nothing was changed"
MAX_NAMED_TASKS = 12
"""Most tasks of a cycle that are named; the rest is counted."""


@dataclass(frozen=True, slots=True)
class PlaceEdit:
    """The changes that a person makes to a task's place in the queue."""

    priority: int | None = None
    """None: unchanged."""
    after: tuple[str, ...] = ()
    """Tasks to wait for, besides the present ones."""
    not_after: tuple[str, ...] = ()
    """Tasks to wait for no longer; `all`: none."""
    filing: QueuePlace = FIRST_COME
    """Labels to add, and a new due time and project; empty: as they are."""
    no_labels: tuple[str, ...] = ()
    """Labels to remove."""
    no_due: bool = False

    def apply(self, place: QueuePlace) -> QueuePlace:
        dropped = place.needs if "all" in self.not_after else self.not_after
        if strange := [need for need in dropped if need not in place.needs or need in self.after]:
            raise BadInput(
                f"{strange[0]} is in --after, too" if strange[0] in self.after else f"it does not wait for {strange[0]}",
                next=f"it waits for {', '.join(place.needs) or 'no other task'}",
                safe=NOTHING_CHANGED,
            )
        kept = [need for need in place.needs if need not in dropped]
        labels = [label for label in (*place.labels, *self.filing.labels) if label not in self.no_labels]
        return replace(
            place,
            priority=place.priority if self.priority is None else self.priority,
            needs=tuple(dict.fromkeys([*kept, *self.after])),
            labels=tuple(dict.fromkeys(labels)),
            due=0.0 if self.no_due else self.filing.due or place.due,
            project=self.filing.project or place.project,
        )


def make_place(now: float, priority: int, needs: tuple[str, ...], labels: Sequence[str], due: str, project: str) -> QueuePlace:
    """A place as a person words it. BadInput if a label, a project or a due time is unusable."""
    from afresh.config.task_lists.listed_task import check_label, check_labels, parse_due

    try:
        moment = parse_due(due, now) if due else 0.0
        return QueuePlace(priority, needs, check_labels(labels), moment, check_label(project) if project else "")
    except ValueError as fault:
        raise BadInput(str(fault), next="correct it and try again", safe=NOTHING_CHANGED) from None


def edit_place(project: "Project", task: str, change: Callable[[QueuePlace], QueuePlace]) -> "State":
    """Give the task the place that `change` makes of its present one. All in one transaction, so that two edits at the same time
    can't close a cycle."""
    with project.storage.transaction():
        state = project.store.load(task)
        refuse_fixed_place(project, state)
        place = change(state.place)
        if added := [need for need in place.needs if need not in state.place.needs]:
            refuse_unusable_needs(project.queue, added)
            refuse_cycle(find_cycle([task], lambda one: place.needs if one == task else list_open_needs(project.queue, one)))
        return state if place == state.place else record_place(project, state, place)


def record_place(project: "Project", state: "State", place: QueuePlace) -> "State":
    from afresh.app.orders.tasks import record_events
    from afresh.workspace.git import find_author_name

    now = state.place
    filed = {name: getattr(place, name) for name in ("labels", "due", "project") if getattr(place, name) != getattr(now, name)}
    changed = PlaceChanged(place.needs, find_author_name(project.paths.root), place.priority, **filed)
    return record_events(project, state, state.task.id, [changed])


def refuse_fixed_place(project: "Project", state: "State") -> None:
    """Raise BadInput for a task that does not wait for its turn: a subtask, one that is over, or one that a worker holds."""
    from afresh.app.orders.tasks import refuse_part_of_task

    refuse_part_of_task(state)
    task, ticket = state.task.id, find_ticket(project.queue, state.task.id)
    if state.status.over:
        raise NotPossible(f"{task} is over: it is {state.status}", next=f"afresh show {task}", safe=NOTHING_CHANGED)
    if ticket and ticket.owner:
        raise NotPossible(
            f"{task} is being worked on by {describe_worker(ticket.owner, gethostname())}",
            next="stop that run first",
            safe=NOTHING_CHANGED,
        )


def refuse_unusable_needs(queue: "TaskQueue", needs: Sequence[str]) -> None:
    """Raise BadInput for a task that no other can wait for."""
    for need in needs:
        ticket = find_ticket(queue, need)
        if ticket is None or ticket.parent:
            what = f"{need} is a subtask of {ticket.parent}" if ticket else f"no such task to wait for: {need}"
            raise BadInput(what, next="afresh status --all lists the tasks", safe=NOTHING_CHANGED)


def list_open_needs(queue: "TaskQueue", task: str) -> Sequence[str]:
    """Return the tasks that this one waits for; a task that nobody has to wait for any more has none."""
    ticket = find_ticket(queue, task)
    return () if ticket is None or ticket.status.satisfies else ticket.needs


def find_cycle(tasks: Iterable[str], list_needs: Callable[[str], Sequence[str]]) -> tuple[str, ...]:
    """Return tasks that wait for each other, from one of them back to it; empty if there are none."""
    checked = set[str]()
    for start in tasks:
        path = {start: iter(list_needs(start))} if start not in checked else {}
        while path:
            task, left = next(reversed(path.items()))
            need = next(left, None)
            if need is None:
                path.popitem()
                checked.add(task)
            elif need in path:
                return (*list(path)[list(path).index(need) :], need)
            elif need not in checked:
                path[need] = iter(list_needs(need))
    return ()


def refuse_cycle(cycle: Sequence[str], advice: str = "leave out one of these tasks", safe: str = NOTHING_CHANGED) -> None:
    """Raise BadInput if there is a cycle: none of its tasks could ever start."""
    if not cycle:
        return
    hidden = len(cycle) - MAX_NAMED_TASKS
    named = [*cycle[: MAX_NAMED_TASKS - 1], f"… {hidden:,} more …", cycle[-1]] if hidden > 0 else cycle
    raise BadInput(f"these tasks would wait for each other: {' needs '.join(named)}", next=advice, safe=safe)
