"""`afresh discard`: throw a result away."""

import click


@click.command()
@click.argument("task")
def command(task: str) -> None:
    """Remove worktree and branch of TASK. Its journal stays."""
    from afresh.app.results import discard
    from afresh.app.tasks import find
    from afresh.cli.common import desk

    here = desk()
    state = discard(here, find(here, task))
    click.echo(f"{state.task.id} is discarded")
