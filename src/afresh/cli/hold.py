"""`afresh hold` and `release`: a person decides when a task goes on."""

from typing import TYPE_CHECKING

import click

from afresh.cli.options import json_option, open_current_project

if TYPE_CHECKING:
    from afresh.core.state import State


@click.command("hold")
@click.argument("task")
@click.argument("why", default="", metavar="[WHY]")
@json_option
def hold_command(task: str, why: str, as_json: bool) -> None:
    """Keep TASK from being worked on until `afresh release`, even while it runs: its worker stops before its next call.

    WHY is kept in the journal. `afresh edit TASK --after OTHER` lets it wait for another task.
    """
    from afresh.app.orders.tasks import find_task
    from afresh.app.queue.hold_task import pause_task

    project = open_current_project()
    state, owner = pause_task(project, find_task(project, task), why)
    name = state.task.id
    said = f"its worker pauses {name} before its next call" if owner else f"{name} is paused"
    report_hold(state, f"{said}; `afresh release {name}` lets it go on", as_json, owner)


@click.command("release")
@click.argument("task")
@json_option
def release_command(task: str, as_json: bool) -> None:
    """Let workers have TASK again: one that was held, has failed or was discarded.

    `afresh resume` also works on it right away.
    """
    from afresh.app.orders.tasks import find_task
    from afresh.app.queue.hold_task import release_task
    from afresh.core.task import TaskStatus

    project = open_current_project()
    state = release_task(project, find_task(project, task))
    asks = state.status is TaskStatus.BLOCKED
    then = f'it waits for `afresh answer {state.task.id} "…"`' if asks else "`afresh work` takes it in its turn"
    report_hold(state, f"{state.task.id} is {state.status}; {then}", as_json)


def report_hold(state: "State", said: str, as_json: bool, owner: str = "") -> None:
    from afresh.cli.output import print_json
    from afresh.core.codec import to_plain_value

    if as_json:
        hold = to_plain_value(state.place.hold) if state.place.hold else None
        asked = bool(owner)
        return print_json({"task": state.task.id, "status": state.status.value, "hold": hold, "asked_worker": asked})
    return click.echo(said)
