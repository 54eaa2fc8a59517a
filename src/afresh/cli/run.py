"""`afresh run`: one task, now."""

import click

from afresh.cli.common import json_option, no_sandbox_option, order_options, quiet_option


@click.command()
@order_options
@no_sandbox_option
@quiet_option
@json_option
def command(goal: str, type_: str, checks: tuple[str, ...], no_sandbox: bool, quiet: bool, as_json: bool, **more) -> None:
    """Work on GOAL until it is verified, blocked, or given up."""
    from afresh.app.instructions import remarks
    from afresh.app.tasks import Order, add
    from afresh.cli.common import desk
    from afresh.cli.working import work_and_tell

    here = desk()
    limits = {"budget": more["budget"], "max_budget": more["max_budget"], "max_steps": more["steps"]}
    limits["thinking"] = more["thinking"]
    order = Order(goal, type_, checks, model=more["model"], **limits)
    state = add(here, order)
    for line in remarks(here, state) if not (quiet or as_json) else ():
        click.secho(line, dim=True, err=True)
    work_and_tell(here, state.task.id, model=more["model"], no_sandbox=no_sandbox, quiet=quiet, as_json=as_json)
