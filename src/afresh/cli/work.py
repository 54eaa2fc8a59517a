"""`afresh work`: do what is in the queue."""

import click

from afresh.cli.common import model_option, run_options


@click.command()
@click.option("--until-empty", is_flag=True, help="Go on until no task is ready.")
@model_option
@run_options
def command(until_empty: bool, as_json: bool, **way) -> None:
    """Take the next ready task (interrupted ones first)."""
    from afresh.cli.common import desk, print_json
    from afresh.cli.working import Way, work_on_one

    here, done = desk(), []
    while state := work_on_one(here, None, Way(as_json=as_json, **way)):
        done.append(state)
        if not as_json:
            click.echo(f"{state.task.id}: {state.status}: {state.outcome}")
        if not until_empty:
            break
    if as_json:
        print_json([{"task": state.task.id, "status": state.status, "outcome": state.outcome} for state in done])
    elif not done:
        click.echo("no task is ready")
    if any(state.status in ("failed", "blocked") for state in done):
        raise SystemExit(1)
