"""Reads the journals of a project for what its prompts were used for."""

from collections.abc import Sequence

from afresh.app.project import Project
from afresh.core.task import TaskStatus, TicketOrder, TicketQuery
from afresh.evolve.task_use import TaskUse, collect_task_use
from afresh.evolve.use_report import UseReport, add_up_use

MAX_TASKS_READ = 60
"""The newest: what was long ago says little about the policy of today."""


def collect_project_use(project: Project, most: int = MAX_TASKS_READ) -> list[TaskUse]:
    """How the newest tasks used their context, the oldest of them first."""
    begun = tuple(status for status in TaskStatus if status is not TaskStatus.READY)
    tickets: Sequence[str] = [one.task for one in project.queue.tickets(TicketQuery(begun, order=TicketOrder.NEWEST, most=most))]
    found = (collect_task_use(project.store.journal(task), project.store.read) for task in reversed(tickets))
    return [one for one in found if one and one.calls]


def report_use(project: Project, most: int = MAX_TASKS_READ) -> UseReport:
    return add_up_use(collect_project_use(project, most))
