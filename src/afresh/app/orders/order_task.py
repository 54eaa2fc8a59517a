"""Adds a task that starts at once, with what it begins with, for the command line and for programs."""

from collections.abc import Sequence
from dataclasses import replace

from afresh.app.orders.check_order import OrderTerms
from afresh.app.orders.choose_start import choose_task_start
from afresh.app.orders.tasks import TaskOrder, create_task, prepare_order
from afresh.app.project import Project
from afresh.core.event import Event
from afresh.core.state import State
from afresh.core.task import StartChosen


def order_task(
    project: Project, order: TaskOrder, terms: OrderTerms, on: str = "", with_changes: bool = False, events: Sequence[Event] = ()
) -> State:
    """Create a task that begins with the result of the task `on`, with the checkout as it is (`with_changes`), or with HEAD.
    `events` are recorded with it."""
    start = choose_task_start(project, on, with_changes)
    task, recorded = prepare_order(project, order, terms, [*events, *([StartChosen(start)] if start else [])])
    return create_task(project, replace(task, attended=True), recorded)
