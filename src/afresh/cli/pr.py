"""`afresh pr`: a pull request for the result of a task."""

import click

from afresh.cli.options import read_current_tasks
from afresh.cli.output import echo_wrapped
from afresh.views.page import Page

PARTS = ("branch", "title", "body")


@click.command("pr")
@click.argument("task", required=False)
@click.option("--only", type=click.Choice(PARTS), help="Print only this part.")
@click.option("--push", is_flag=True, help="Push the branch, and open the pull request with gh or glab if it is installed.")
@click.option("--unverified", is_flag=True, help="Push even if the checks did not pass.")
@click.option("--remote", default="origin", show_default=True, metavar="NAME", help="Where to push.")
@click.option("--base", default="", metavar="BRANCH", help="Branch to merge into (default: the forge's own).")
def command(task: str | None, only: str | None, **more) -> Page:
    """Write a pull request for TASK (default: the latest): branch, title, body, and the commands that open it.

    Nothing leaves this machine without --push, and nothing unverified without --unverified.
    """
    from afresh.app.queue.read_tasks import find_task_id
    from afresh.app.results.open_pull_request import (
        PullRequestTarget,
        create_pull_request,
        list_commands,
        push_result,
        refuse_unready_result,
    )
    from afresh.app.results.read_task_diff import list_diff_changes
    from afresh.views.pull_request import find_last_report, make_pull_request

    project = read_current_tasks()
    state = project.load(find_task_id(project.queue, project.export_folder, task))
    refuse_unready_result(project.root, state)
    changes, report = list_diff_changes(project.root, state), find_last_report(project.journal.journal(state.task.id))
    request, target = make_pull_request(state, changes, report), PullRequestTarget(more["remote"], more["base"])
    if only:
        return Page({only: getattr(request, only)}, getattr(request, only))
    commands = list_commands(project.root, state.task.id, request, target)
    pushed = push_result(project.root, state, target, more["unverified"]) if more["push"] else ""
    opened = create_pull_request(project.root, request, target) if pushed else ""
    commands = [] if opened else commands[1:] if pushed else commands
    data = {"task": state.task.id, **{part: getattr(request, part) for part in PARTS}, "verified": request.verified}

    def print_outcome() -> None:
        """Say what was done, and below it what is left to type."""
        if not pushed:
            click.echo(f"branch: {request.branch}\ntitle: {request.title}\n\n{request.body}")
        for line in filter(None, (pushed, opened)):
            echo_wrapped(line)
        if commands:
            click.secho("Open it with:" if pushed else "Push and open it with `afresh pr --push`, or:", dim=True, err=True)
            click.echo("\n".join(f"  {line}" for line in commands), err=True)

    return Page(data | {"pushed": bool(pushed), "opened": opened, "next": commands}, print_outcome)
