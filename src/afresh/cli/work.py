"""`afresh work`: do what is in the queue."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from afresh.cli.common import json_option, model_option, no_sandbox_option, quiet_option

if TYPE_CHECKING:
    from afresh.domain.state import State


@click.command()
@click.option("--until-empty", is_flag=True, help="Go on until no task is ready.")
@model_option
@no_sandbox_option
@quiet_option
@json_option
def command(until_empty: bool, model: str, no_sandbox: bool, quiet: bool, as_json: bool) -> None:
    """Take the next ready task (interrupted ones first)."""
    from afresh.cli.common import desk, print_json
    from afresh.cli.working import work_on_one
    from afresh.errors import NeedsPerson

    here, done = desk(), list["State"]()
    try:
        while state := work_on_one(here, None, model=model, no_sandbox=no_sandbox, quiet=quiet or as_json):
            done.append(state)
            if not as_json:
                click.echo(f"{state.task.id}: {state.status}: {state.outcome}")
            if not until_empty:
                break
    except NeedsPerson:
        # a limit of spending, say: the next task would run into it, too
        if as_json and done:
            print_json(rows(done))
        raise
    if as_json:
        print_json(rows(done))
    elif not done:
        click.echo("no task is ready")
    if any(state.status in ("failed", "blocked") for state in done):
        raise SystemExit(1)


def rows(done: "Sequence[State]") -> list[dict[str, str]]:
    return [{"task": state.task.id, "status": state.status, "outcome": state.outcome} for state in done]
