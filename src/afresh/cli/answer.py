"""`afresh answer`: a person decides, the task goes on."""

import click


@click.command()
@click.argument("task")
@click.argument("text")
def command(task: str, text: str) -> None:
    """Answer what TASK asks; your words are kept as they are."""
    from afresh.app.tasks import answer, find
    from afresh.cli.common import desk

    here = desk()
    state = answer(here, find(here, task), text)
    click.echo(f"{state.task.id} is ready again: afresh resume {state.task.id}")
