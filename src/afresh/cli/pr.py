"""`afresh pr`: a pull request for the result of a task."""

from pathlib import Path

import click

from afresh.cli.options import json_option, read_current_tasks
from afresh.cli.output import echo_wrapped, print_json

PARTS = ("branch", "title", "body")


@click.command("pr")
@click.argument("task", required=False)
@click.option("--only", type=click.Choice(PARTS), help="Print only this part.")
@click.option("--out", type=click.Path(path_type=Path), metavar="DIR", help="Write branch, title and body.md to DIR instead.")
@click.option("--cost", "with_cost", is_flag=True, help="Add what the task has cost.")
@click.option("--push", is_flag=True, help="Push the branch, and open the pull request with gh or glab if it is installed.")
@click.option("--unverified", is_flag=True, help="Push even if the checks did not pass.")
@click.option("--remote", default="origin", show_default=True, metavar="NAME", help="Where to push.")
@click.option("--base", default="", metavar="BRANCH", help="Branch to merge into (default: the forge's own).")
@click.option("--with", "program", type=click.Choice(("gh", "glab")), help="Program of the forge (default: by the remote).")
@json_option
def command(task: str | None, only: str | None, out: Path | None, with_cost: bool, as_json: bool, **more) -> None:
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
    from afresh.cli.tasks import find_task_spending
    from afresh.views.pull_request import find_last_report, make_pull_request

    project = read_current_tasks()
    state = project.load(find_task_id(project.queue, project.export_folder, task))
    refuse_unready_result(project.root, state)
    spent = find_task_spending(project.root, state.task.id) if with_cost else None
    changes, report = list_diff_changes(project.root, state), find_last_report(project.journal.journal(state.task.id))
    request = make_pull_request(state, changes, report, spent.cost or spent.paid if spent else "")
    target = PullRequestTarget(more["remote"], more["base"], more["program"] or "")
    if only:
        return click.echo(getattr(request, only))
    if out:
        write_parts(out, request.branch, request.title, request.body)
    commands = list_commands(project.root, state.task.id, request, target)
    pushed = push_result(project.root, state, target, more["unverified"]) if more["push"] else ""
    opened = create_pull_request(project.root, request, target) if pushed else ""
    commands = [] if opened else commands[1:] if pushed else commands
    if as_json:
        told = {"task": state.task.id, **{part: getattr(request, part) for part in PARTS}, "verified": request.verified}
        return print_json(told | {"pushed": bool(pushed), "opened": opened, "next": commands})
    if not pushed and not out:
        click.echo(f"branch: {request.branch}\ntitle: {request.title}\n\n{request.body}")
    return print_outcome([f"wrote branch, title and body.md to {out}" if out else "", pushed, opened], commands)


def print_outcome(done: "list[str]", commands: "list[str]") -> None:
    """Say what was done, and below it what is left to type."""
    for line in filter(None, done):
        echo_wrapped(line)
    if commands:
        click.secho("Push and open it with `afresh pr --push`, or:" if not done[1] else "Open it with:", dim=True, err=True)
        click.echo("\n".join(f"  {line}" for line in commands), err=True)


def write_parts(folder: Path, branch: str, title: str, body: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in (("branch", f"{branch}\n"), ("title", f"{title}\n"), ("body.md", body)):
        (folder / name).write_text(text, "utf-8")
