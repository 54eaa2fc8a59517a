"""`afresh discard`: throw a result away."""

import click


@click.command()
@click.argument("task")
def command(task: str) -> None:
    """Remove the worktree and branch of TASK. The journal is kept."""
    from afresh.app.task_result import discard_task_result
    from afresh.app.tasks import find_task
    from afresh.cli.options import open_current_project

    here = open_current_project()
    state = discard_task_result(here, find_task(here, task))
    click.echo(f"discarded {state.task.id}")
