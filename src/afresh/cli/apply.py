"""`afresh apply`: take a result over into your checkout."""

import click


@click.command()
@click.argument("task", required=False)
@click.option("--unverified", is_flag=True, help="Apply even if the checks did not pass.")
def command(task: str | None, unverified: bool) -> None:
    """Merge the branch of TASK (default: the latest) into your current branch."""
    from afresh.app.task_result import apply_task_result
    from afresh.app.tasks import find_task
    from afresh.cli.options import open_current_project

    here = open_current_project()
    _, said = apply_task_result(here, find_task(here, task), unverified)
    click.echo(said)
