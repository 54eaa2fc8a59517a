"""Reads a Python project's violations, a profile and its journals, and files tasks that make its code better into the queue. It
runs and merges nothing."""

import pstats
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from afresh.app.code.violations import list_violations
from afresh.app.orders.tasks import TaskOrder, add_task, find_task_checks
from afresh.app.project import Project
from afresh.app.queue.queue_place import QueuePlace
from afresh.core.event import ChangeKeptOrReverted
from afresh.core.task import TaskStatus, TicketOrder, TicketQuery
from afresh.errors import BadInput
from afresh.evolve.code_tasks import MAX_TASKS, CodeTask, ComplexFunction, SlowFunction, plan_code_tasks

MAX_TASKS_READ = 40
MAX_VIOLATIONS = 40


def find_code_tasks(project: Project, profile: Path | None, benchmark: str, most: int = MAX_TASKS) -> list[CodeTask]:
    """What is worth a task and is not in the queue yet. BadInput without checks: nothing would say that the code still works."""
    checks = project.settings.checks or tuple(check.command for check in find_task_checks(project))
    if not checks:
        raise BadInput(
            "the project has no checks and none were found, so nothing would say that its code still works",
            next="set checks in .afresh/config.toml",
            safe="no task was filed",
        )
    if profile and not benchmark:
        raise BadInput(
            "a profile needs a benchmark that must not get slower",
            next='pass --bench "COMMAND", which exits with an error when it is too slow',
            safe="no task was filed",
        )
    slow = list(read_profile(profile, project.paths.root)) if profile else []
    found = plan_code_tasks(list(list_complex_functions(project)), slow, count_changes(project), checks, benchmark, most)
    known = {ticket.goal for ticket in project.queue.tickets()}
    return [one for one in found if one.goal not in known]


def list_complex_functions(project: Project) -> Iterator[ComplexFunction]:
    for number, one in enumerate(list_violations(project.paths.root, (), offers=False)):
        measure = next((part for part in one.measures if part.value > part.limit), None)
        if number >= MAX_VIOLATIONS:
            return
        if measure and one.complexity > measure.limit:
            yield ComplexFunction(one.path, one.function, one.line, one.complexity, measure.limit)


def read_profile(path: Path, root: Path) -> Iterator[SlowFunction]:
    """Functions of the project in a file that cProfile wrote, by their own time."""
    try:
        stats = pstats.Stats(str(path)).stats  # type: ignore[attr-defined]
    except Exception as fault:  # pstats raises whatever marshal does
        raise BadInput(
            f"{path} is no profile", next="python -m cProfile -o FILE YOUR_PROGRAM writes one", safe="no task was filed"
        ) from fault
    own = [
        (Path(file).resolve().relative_to(root).as_posix(), name, line, timing[2])
        for (file, line, name), timing in stats.items()
        if Path(file).is_absolute() and Path(file).resolve().is_relative_to(root) and name.isidentifier()
    ]
    whole = sum(seconds for *_, seconds in own)
    for place, name, line, seconds in own:
        if whole:
            yield SlowFunction(place, name, line, seconds, seconds / whole)


def count_changes(project: Project) -> Counter[str]:
    """How often recent tasks changed a file, kept or undone: code that is worked on is worth simplifying."""
    found = Counter[str]()
    begun = tuple(status for status in TaskStatus if status is not TaskStatus.READY)
    for ticket in project.queue.tickets(TicketQuery(begun, order=TicketOrder.NEWEST, most=MAX_TASKS_READ)):
        for entry in project.store.journal(ticket.task):
            if isinstance(entry.event, ChangeKeptOrReverted):
                found.update(hunk.path for hunk in entry.event.hunks)
    return found


def file_code_tasks(project: Project, tasks: list[CodeTask]) -> list[str]:
    """Add them to the queue; a worker takes them like any other task, and a person applies the result."""
    orders = [TaskOrder(one.goal, one.type, one.checks, QueuePlace(one.priority)) for one in tasks]
    return [add_task(project, order).task.id for order in orders]
