"""What the project's earlier tasks know of a model: a few states are read, no journal."""

from afresh.app.tasks import Project
from afresh.domain.meter import TokenCalibration, find_calibration
from afresh.domain.task import TaskStatus

MAX_TASKS_READ = 5
"""Of the newest that were begun. Without one among them that used the model, the first calls learn it again."""


def load_calibration(desk: Project, model: str, task: str) -> TokenCalibration:
    begun = [ticket.task for ticket in desk.queue.tickets() if ticket.status is not TaskStatus.READY and ticket.task != task]
    states = sorted(map(desk.store.load, begun[-MAX_TASKS_READ:]), key=lambda state: state.updated, reverse=True)
    return next((meter for state in states if (meter := find_calibration(state.meters, model)).samples), TokenCalibration(model))
