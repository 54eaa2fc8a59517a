"""`afresh retry` and `skip`: go on after a task has failed or was discarded."""

import click

from afresh.cli.options import add_run_options, json_option, model_option, open_current_project


@click.command("retry")
@click.argument("task", required=False)
@click.option("--hint", default="", metavar="WORDS", help="What the model should know this time.")
@click.option("--resume", is_flag=True, help="Work on it right away.")
@model_option
@add_run_options
def retry_command(task: str | None, hint: str, resume: bool, as_json: bool, **way) -> None:
    """Try TASK (default: the latest) again.

    A failed task goes on with all that it knows. A discarded one starts again from scratch.
    """
    from afresh.app.orders.tasks import find_task
    from afresh.app.queue.retry_task import retry_task
    from afresh.cli.output import print_json
    from afresh.cli.run import RunFlags, run_and_report

    project = open_current_project()
    state = retry_task(project, find_task(project, task), hint)
    name = state.task.id
    if resume:
        return run_and_report(project, name, RunFlags(as_json=as_json, **way))
    if as_json:
        return print_json({"task": name, "status": state.status.value})
    return click.echo(f"{name} is ready; next: afresh resume {name}")


@click.command("skip")
@click.argument("task", required=False)
@json_option
def skip_command(task: str | None, as_json: bool) -> None:
    """Let TASK (default: the latest) start without the tasks it waits for."""
    from afresh.app.orders.tasks import find_task
    from afresh.app.queue.retry_task import skip_needs
    from afresh.cli.output import print_json

    project = open_current_project()
    name = find_task(project, task)
    skipped = skip_needs(project, name)
    if as_json:
        return print_json({"task": name, "skipped": [*skipped]})
    for need in skipped:
        click.echo(f"{name} no longer waits for {need}")
    click.echo(f"next: afresh resume {name}")
