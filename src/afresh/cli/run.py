"""`afresh run`: one task, now."""

import click

from afresh.cli.common import order_options, run_options


@click.command()
@order_options
@run_options
def command(goal: str, type_: str, checks: tuple[str, ...], **more) -> None:
    """Work on GOAL until it is verified, blocked, or given up."""
    from afresh.app.instructions import remarks
    from afresh.app.tasks import Order, add
    from afresh.cli.common import desk
    from afresh.cli.working import Way, work_and_tell

    here = desk()
    limits = {"budget": more["budget"], "max_budget": more["max_budget"], "max_steps": more["steps"]}
    limits |= {"loop": more["loop"], "thinking": more["thinking"]}
    way = Way(**{name: more[name] for name in ("model", "mode", "no_sandbox", "quiet", "as_json")})
    way.refuse_alone()
    state = add(here, Order(goal, type_, checks, model=way.model, **limits))
    for line in remarks(here, state) if not (way.quiet or way.as_json) else ():
        click.secho(line, dim=True, err=True)
    work_and_tell(here, state.task.id, way)
