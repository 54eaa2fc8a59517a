"""`afresh work`: do what is in the queue."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from afresh.cli.options import add_run_options, model_option

if TYPE_CHECKING:
    from afresh.core.state import State


@click.command()
@click.option("--until-empty", is_flag=True, help="Continue until no task is ready.")
@model_option
@add_run_options
def command(until_empty: bool, as_json: bool, **way) -> None:
    """Run the next ready task; interrupted ones come first."""
    from afresh.cli.options import open_current_project
    from afresh.cli.output import print_json
    from afresh.cli.run_with_progress import RunFlags, run_with_progress
    from afresh.errors import NeedsPerson

    here, done = open_current_project(), list["State"]()
    try:
        while state := run_with_progress(here, None, RunFlags(as_json=as_json, **way)):
            done.append(state)
            if not as_json:
                click.echo(f"{state.task.id}: {state.status}: {state.work.outcome}")
            if not until_empty:
                break
    except NeedsPerson:
        # a limit of spending, say: the next task would run into it, too
        if as_json and done:
            print_json(make_outcome_rows(done))
        raise
    if as_json:
        print_json(make_outcome_rows(done))
    elif not done:
        click.echo("no tasks ready")
    if any(state.status in ("failed", "blocked") for state in done):
        raise SystemExit(1)


def make_outcome_rows(done: "Sequence[State]") -> list[dict[str, str]]:
    return [{"task": state.task.id, "status": state.status, "outcome": state.work.outcome} for state in done]
