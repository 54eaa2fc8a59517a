"""`afresh show`: one task in detail."""

import click

from afresh.cli.options import json_option


@click.command()
@click.argument("task", required=False)
@json_option
def command(task: str | None, as_json: bool) -> None:
    """Show TASK: goal, checks, changes, steps, what failed, what to do next."""
    from afresh.app.spending_report import sum_task_spending
    from afresh.app.tasks import find_task
    from afresh.cli.options import open_current_project
    from afresh.cli.output import print_json
    from afresh.cli.output import print_rendered as render
    from afresh.cli.render.spending import cost_to_json
    from afresh.cli.render.task import render_task
    from afresh.cli.run_with_progress import describe_task_cost
    from afresh.views.tasks import task_to_json

    here = open_current_project()
    state = here.store.load(find_task(here, task))
    if as_json:
        return print_json(task_to_json(state) | {"cost": cost_to_json(sum_task_spending(here, state.task.id))})
    return render(render_task(state, describe_task_cost(here, state.task.id)))
