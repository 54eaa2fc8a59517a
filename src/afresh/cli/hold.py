"""`afresh block`, `unblock`, `pause`, `continue` and `cancel`: who decides when a task goes on."""

from typing import TYPE_CHECKING

import click

from afresh.cli.options import json_option, open_current_project

if TYPE_CHECKING:
    from afresh.core.state import State

reason_option = click.option("--why", default="", metavar="WORDS", help="The reason, kept in the journal.")


@click.command("block")
@click.argument("task")
@click.argument("reason")
@json_option
def block_command(task: str, reason: str, as_json: bool) -> None:
    """Keep TASK from being worked on, for REASON, until `afresh unblock`.

    For something outside that is missing. `afresh edit TASK --after OTHER` lets it wait for another task.
    """
    from afresh.app.orders.tasks import find_task
    from afresh.app.queue.hold_task import block_task_for_reason

    project = open_current_project()
    state = block_task_for_reason(project, find_task(project, task), reason)
    _report(state, f"{state.task.id} is blocked; `afresh unblock {state.task.id}` lets it go on", as_json)


@click.command("unblock")
@click.argument("task")
@json_option
def unblock_command(task: str, as_json: bool) -> None:
    """Put a blocked TASK back into the queue."""
    _release(task, "blocked", as_json)


@click.command("continue")
@click.argument("task")
@json_option
def continue_command(task: str, as_json: bool) -> None:
    """Put a paused TASK back into the queue. `afresh resume` also works on it right away."""
    _release(task, "paused", as_json)


@click.command("pause")
@click.argument("task")
@reason_option
@json_option
def pause_command(task: str, why: str, as_json: bool) -> None:
    """Pause TASK until `afresh continue`, even while it runs: its worker stops before its next call."""
    from afresh.app.orders.tasks import find_task
    from afresh.app.queue.hold_task import pause_task

    project = open_current_project()
    state, owner = pause_task(project, find_task(project, task), why)
    name = state.task.id
    said = f"its worker pauses {name} before its next call" if owner else f"{name} is paused"
    _report(state, f"{said}; `afresh continue {name}` lets it go on", as_json, owner)


@click.command("cancel")
@click.argument("task")
@reason_option
@json_option
def cancel_command(task: str, why: str, as_json: bool) -> None:
    """End TASK before it is done, and remove its branch and worktree. The journal is kept.

    The worker that runs it stops before its next call. `afresh discard` does the same, and also drops the
    result of a finished task; it refuses one that runs.
    """
    from afresh.app.orders.tasks import find_task
    from afresh.app.queue.hold_task import cancel_task

    project = open_current_project()
    state, owner = cancel_task(project, find_task(project, task), why)
    name = state.task.id
    now = f"{name} is discarded; `afresh retry {name}` starts it again from scratch"
    said = f"its worker discards {name} before its next call" if owner else now
    _report(state, said, as_json, owner)


def _release(task: str, kind: str, as_json: bool) -> None:
    from afresh.app.orders.tasks import find_task
    from afresh.app.queue.hold_task import release_task
    from afresh.core.states.queue_state import HoldKind

    project = open_current_project()
    state = release_task(project, find_task(project, task), HoldKind(kind))
    _report(state, f"{state.task.id} is no longer {kind}; `afresh work` takes it in its turn", as_json)


def _report(state: "State", said: str, as_json: bool, owner: str = "") -> None:
    from afresh.cli.output import print_json
    from afresh.core.codec import to_plain_value

    if as_json:
        hold = to_plain_value(state.place.hold) if state.place.hold else None
        asked = bool(owner)
        return print_json({"task": state.task.id, "status": state.status.value, "hold": hold, "asked_worker": asked})
    return click.echo(said)
