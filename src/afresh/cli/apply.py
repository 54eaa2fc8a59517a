"""`afresh apply`: take a result over into your checkout."""

import click


@click.command()
@click.argument("task", required=False)
@click.option("--unverified", is_flag=True, help="Also when the harness could not verify it.")
def command(task: str | None, unverified: bool) -> None:
    """Merge the branch of TASK into the branch you are on."""
    from afresh.app.results import apply
    from afresh.app.tasks import find
    from afresh.cli.common import desk

    here = desk()
    _, said = apply(here, find(here, task), unverified)
    click.echo(said)
