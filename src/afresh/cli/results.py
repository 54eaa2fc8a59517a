"""`afresh apply`, `undo` and `discard`: merge or drop the changes of a task."""

import sys
from typing import Any

import click

from afresh.app.orders.tasks import find_task, refuse_part_of_task
from afresh.app.project import Project
from afresh.app.queue.hold_task import discard_task
from afresh.app.results.auto_merge import apply_checked
from afresh.app.results.task_result import list_tasks_without_result, undo_task_steps
from afresh.cli.exit_codes import ExitCode
from afresh.cli.options import WholeNumber, with_project
from afresh.cli.output import wants_json
from afresh.cli.render.activity import show_activity_line
from afresh.core.task import TaskStatus
from afresh.core.text import format_count
from afresh.errors import BadInput
from afresh.views.page import Page


@click.command("apply")
@click.argument("task", required=False)
@click.option("--unverified", is_flag=True, help="Apply even if the checks did not pass.")
@click.option("--no-check", is_flag=True, help="Don't run the checks on the merge with what was committed since.")
@with_project
def apply_command(project: Project, task: str | None, unverified: bool, no_check: bool) -> Page:
    """Merge the branch of TASK (default: the latest that is done) into your current branch."""
    with show_activity_line("merging the branch"):
        name = find_task(project, task, lambda ticket: unverified or ticket.status is TaskStatus.DONE)
        state, done = apply_checked(project, name, unverified, not no_check)
    return Page({"task": state.task.id, "status": state.status.value, "what": done}, done)


@click.command("undo")
@click.argument("task", required=False)
@click.option(
    "--steps", default=0, type=WholeNumber(min=0), metavar="N", help="Undo N steps (default: back to before the last change)."
)
@click.option("--why", default="", metavar="WORDS", help="The reason; the model gets it and does not repeat the change.")
@with_project
def undo_command(project: Project, task: str | None, steps: int, why: str) -> Page:
    """Undo the last change of TASK (default: the latest that has begun), in its own worktree. A finished task can then go on."""
    name = find_task(project, task, lambda ticket: ticket.detail and ticket.detail.step and not ticket.status.closed)
    before, after = project.store.load(name), undo_task_steps(project, name, steps, why)
    gone = [path for path in before.workspace.changed if path not in after.workspace.changed]
    changes = after.workspace
    data = {"task": name, "changed": [*changes.changed], "no_longer_changed": gone, "snapshot": changes.snapshot}
    left = ", ".join(after.workspace.changed) or "none"
    done = f"undone in {name}: {format_count(after.workspace.reverted - before.workspace.reverted, 'change')}"
    if after.head == before.head:
        done = f"finished the interrupted undo in {name}; nothing else was undone"
    then = f"`afresh resume {name}` continues from there; the agent is told about the undo"
    return Page(data, f"{done}; files still changed: {left}\n{then}")


@click.command("discard")
@click.argument("tasks", nargs=-1, metavar="[TASK]...")
@click.option("--failed", is_flag=True, help="All tasks that ended without a result: failed, unchanged, or only answered.")
@click.option("--yes", "-y", is_flag=True, help="Do not ask before a verified result is deleted.")
@click.option("--why", default="", metavar="WORDS", help="The reason, kept in the journal.")
@with_project
def discard_command(project: Project, tasks: tuple[str, ...], failed: bool, yes: bool, why: str) -> Page:
    """End each TASK, and delete its worktree and branch. Its journal is kept.

    If the task is running, its worker ends it before its next call.
    """
    if not (tasks or failed):
        raise click.UsageError("Missing argument 'TASK'.")
    named = [find_task(project, task) for task in tasks] + (list_tasks_without_result(project) if failed else [])
    states = [project.store.load(task) for task in dict.fromkeys(named)]
    for state in states:
        refuse_part_of_task(state)
    verified = [state.task.id for state in states if state.status is TaskStatus.DONE and state.workspace.commit]
    kept = [] if yes else [task for task in verified if not confirm_deletion(task)]
    discarded = [state for state in states if state.task.id not in kept]
    rows: list[dict[str, Any]] = []
    for state in discarded:
        after, owner = discard_task(project, state.task.id, why)
        commit, status = state.workspace.commit, after.status.value
        rows.append({"task": state.task.id, "status": status, "commit": commit, "asked_worker": bool(owner)})
        if not wants_json():
            back = f"; its result was commit {commit[:12]}: `git branch NAME {commit[:12]}` brings it back" if commit else ""
            waits = f"its worker discards {state.task.id} before its next call"
            click.echo(waits if owner else f"discarded {state.task.id}{back}")
    return Page(rows, "" if states else "no task has ended without a result", ExitCode.NOT_DONE if kept else 0)


def confirm_deletion(task: str) -> bool:
    """Ask before a verified result is deleted. BadInput without a terminal."""
    what = f"{task} has a verified result that is not applied"
    if wants_json() or not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise BadInput(what, next="`afresh apply` merges it; `afresh discard --yes` deletes it", safe="nothing was deleted")
    return click.confirm(f"{what}. Delete it?", default=False, err=True)
