"""`afresh show`: one task in detail."""

import click

from afresh.cli.options import json_option


@click.command()
@click.argument("task", required=False)
@json_option
def command(task: str | None, as_json: bool) -> None:
    """Show TASK: goal, checks, changes, steps, what failed, what to do next."""
    from afresh.app.read_spending import open_user_ledger, sum_task_calls
    from afresh.app.read_tasks import find_task_id
    from afresh.cli.options import read_current_tasks
    from afresh.cli.output import measure_width, print_json, print_lines
    from afresh.cli.render.cost import cost_to_json, describe_cost
    from afresh.cli.render.task import render_task
    from afresh.views.tasks import task_to_json

    here = read_current_tasks()
    state = here.load(find_task_id(here.queue, here.export_folder, task))
    cost = sum_task_calls(open_user_ledger(), here.root, state.task.id)
    if as_json:
        return print_json(task_to_json(state) | {"cost": cost_to_json(cost)})
    return print_lines(render_task(state, describe_cost(cost), measure_width()))
