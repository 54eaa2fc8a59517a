"""`afresh show`: one task in detail."""

from pathlib import Path

import click

from afresh.cli.options import json_option


@click.command()
@click.argument("task", required=False)
@json_option
def command(task: str | None, as_json: bool) -> None:
    """Show TASK (default: the latest): checks, changes, steps, failures, next commands."""
    from afresh.app.read_tasks import find_task_id
    from afresh.cli.options import read_current_tasks
    from afresh.cli.output import measure_width, print_json, print_lines

    here = read_current_tasks()
    state = here.load(find_task_id(here.queue, here.export_folder, task))
    if as_json:
        from afresh.app.read_spending import open_user_ledger, sum_task_calls
        from afresh.cli.render.cost import cost_to_json
        from afresh.views.tasks import task_to_json

        cost = sum_task_calls(open_user_ledger(), here.root, state.task.id)
        return print_json(task_to_json(state) | {"cost": cost_to_json(cost)})
    from afresh.cli.render.task import render_task

    return print_lines(render_task(state, _describe_task_cost(here.root, state.task.id), measure_width()))


def _describe_task_cost(root: Path, task: str) -> str:
    """Empty where nobody pays."""
    from afresh.app.user_ledger import has_user_ledger

    if not has_user_ledger():
        return ""
    from afresh.app.read_spending import open_user_ledger, sum_task_calls
    from afresh.cli.render.cost import describe_cost

    return describe_cost(sum_task_calls(open_user_ledger(), root, task))
