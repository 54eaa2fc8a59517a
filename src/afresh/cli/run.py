"""`afresh run`: one task, now."""

import click

from afresh.cli.options import add_order_options, add_run_options


@click.command()
@add_order_options
@add_run_options
def command(goal: str, type_: str, checks: tuple[str, ...], **more) -> None:
    """Work on GOAL until the checks pass. Exits 0 only if they do."""
    from afresh.app.inspect_instructions import describe_task_instructions
    from afresh.app.tasks import TaskOrder, add_task
    from afresh.cli.options import open_current_project
    from afresh.cli.run_with_progress import RunFlags, run_and_report

    here = open_current_project()
    limits = {"budget": more["budget"], "max_budget": more["max_budget"], "max_steps": more["steps"]}
    limits |= {"loop": more["loop"], "thinking": more["thinking"]}
    way = RunFlags(**{name: more[name] for name in ("model", "mode", "no_sandbox", "quiet", "as_json")})
    way.refuse_alone()
    state = add_task(here, TaskOrder(goal, type_, checks, model=way.model, **limits))
    for line in describe_task_instructions(here, state) if not (way.quiet or way.as_json) else ():
        click.secho(line, dim=True, err=True)
    run_and_report(here, state.task.id, way)
