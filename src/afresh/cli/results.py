"""`afresh apply`, `undo` and `discard`: merge or drop the changes of a task."""

import click

from afresh.cli.options import json_option, open_current_project, silent_option
from afresh.cli.output import print_json


@click.command("apply")
@click.argument("task", required=False)
@click.option("--unverified", is_flag=True, help="Apply even if the checks did not pass.")
@silent_option
@json_option
def apply_command(task: str | None, unverified: bool, as_json: bool) -> None:
    """Merge the branch of TASK (default: the latest) into your current branch."""
    from afresh.app.orders.tasks import find_task
    from afresh.app.results.task_result import apply_task_result
    from afresh.cli.render.activity import show_activity_line

    project = open_current_project()
    with show_activity_line("merging the branch"):
        state, said = apply_task_result(project, find_task(project, task), unverified)
    if as_json:
        return print_json({"task": state.task.id, "status": state.status.value, "what": said})
    return click.echo(said)


@click.command("undo")
@click.argument("task", required=False)
@click.option(
    "--steps", default=0, type=click.IntRange(min=0), metavar="N", help="Undo N steps (default: back to before the last change)."
)
@click.option("--why", default="", metavar="WORDS", help="The reason; the model gets it and does not repeat the change.")
@json_option
def undo_command(task: str | None, steps: int, why: str, as_json: bool) -> None:
    """Undo the last change of TASK (default: the latest), in the task's own worktree."""
    from afresh.app.orders.tasks import find_task
    from afresh.app.results.task_result import undo_task_steps
    from afresh.views.task_status import format_count

    project = open_current_project()
    name = find_task(project, task)
    before, after = project.store.load(name), undo_task_steps(project, name, steps, why)
    gone = [path for path in before.workspace.changed if path not in after.workspace.changed]
    if as_json:
        return print_json(
            {
                "task": name,
                "changed": list(after.workspace.changed),
                "no_longer_changed": gone,
                "snapshot": after.workspace.snapshot,
            }
        )
    left = ", ".join(after.workspace.changed) or "none"
    done = f"undone in {name}: {format_count(after.workspace.reverted - before.workspace.reverted, 'change')}"
    if after.head == before.head:
        done = f"finished the interrupted undo in {name}; nothing else was undone"
    click.echo(f"{done}; files still changed: {left}")
    return click.echo(f"`afresh resume {name}` continues from there; the agent is told about the undo")


@click.command("discard")
@click.argument("task")
@click.option("--why", default="", metavar="WORDS", help="The reason, kept in the journal.")
@json_option
def discard_command(task: str, why: str, as_json: bool) -> None:
    """Remove the worktree and branch of TASK; a task that has not finished is cancelled. The journal is kept."""
    from afresh.app.orders.tasks import find_task
    from afresh.app.results.task_result import discard_task_result

    project = open_current_project()
    state = discard_task_result(project, find_task(project, task), why.strip())
    if as_json:
        return print_json({"task": state.task.id, "status": state.status.value})
    return click.echo(f"discarded {state.task.id}")
