"""`afresh add`: put a task into the queue."""

import click

from afresh.cli.options import add_order_options, json_option


@click.command()
@add_order_options
@click.option("--priority", default=0, type=int, metavar="N", help="Higher values run first.")
@click.option("--after", "needs", multiple=True, metavar="TASK", help="Start after TASK is done. Repeatable.")
@json_option
def command(goal: str, type_: str, checks: tuple[str, ...], priority: int, needs: tuple[str, ...], as_json: bool, **more) -> None:
    """Add a task to the queue. `afresh work` runs it."""
    from afresh.app.inspect_instructions import describe_task_instructions
    from afresh.app.tasks import TaskOrder, add_task, find_task
    from afresh.cli.options import open_current_project
    from afresh.cli.output import print_json

    here = open_current_project()
    wanted = tuple(find_task(here, need) for need in needs)
    limits = {"budget": more["budget"], "max_budget": more["max_budget"], "max_steps": more["steps"]}
    limits |= {"loop": more["loop"], "thinking": more["thinking"]}
    state = add_task(here, TaskOrder(goal, type_, checks, priority, wanted, more["model"], **limits))
    if as_json:
        commands = [check.command for check in state.task.checks]
        return print_json({"task": state.task.id, "checks": commands, "report": state.task.report})
    click.echo(f"added {state.task.id}")
    if state.task.report:
        click.echo(f"writes only {state.task.report}")
    none = "that the places it cites exist" if state.task.report else "none, so the result can't be verified (set --check)"
    click.echo("checks: " + (", ".join(check.command for check in state.task.checks) or none))
    for line in describe_task_instructions(here, state):
        click.echo(line)
    return None
