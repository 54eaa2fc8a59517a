"""`afresh hold` and `release`: a person decides when a task goes on."""

import click

from afresh.app.project import Project
from afresh.app.queue.hold_task import pause_task, release_task
from afresh.cli.options import with_task
from afresh.core.codec import to_plain_value
from afresh.core.state import State
from afresh.core.task import TaskStatus
from afresh.views.page import Page


@click.command("hold")
@click.argument("task")
@click.argument("why", default="", metavar="[WHY]")
@with_task
def hold_command(project: Project, task: str, why: str) -> Page:
    """Keep TASK from being worked on until `afresh release`, even while it runs: its worker stops before its next call.

    WHY is kept in the journal. `afresh edit TASK --after OTHER` lets it wait for another task.
    """
    state, owner = pause_task(project, task, why)
    paused = f"its worker pauses {task} before its next call" if owner else f"{task} is paused"
    return make_hold_output(state, f"{paused}; `afresh release {task}` lets it go on", owner)


@click.command("release")
@click.argument("task")
@with_task
def release_command(project: Project, task: str) -> Page:
    """Let workers have TASK again: one that was held, has failed or was discarded.

    `afresh resume` also works on it right away.
    """
    state = release_task(project, task)
    asks = state.status is TaskStatus.BLOCKED
    then = f'it waits for `afresh answer {state.task.id} "…"`' if asks else "`afresh work` takes it in its turn"
    return make_hold_output(state, f"{state.task.id} is {state.status}; {then}")


def make_hold_output(state: State, text: str, owner: str = "") -> Page:
    hold = to_plain_value(state.place.hold) if state.place.hold else None
    data = {"task": state.task.id, "status": state.status.value, "hold": hold, "asked_worker": bool(owner)}
    return Page(data, text)
