"""`afresh checkpoints`: points to which a task can be taken back."""

import click

from afresh.cli.options import json_option, open_current_project
from afresh.cli.output import measure_width, print_json, print_lines


@click.command("checkpoints")
@click.argument("task", required=False)
@json_option
def command(task: str | None, as_json: bool) -> None:
    """List the checkpoints of TASK (default: the latest). `afresh resume TASK --from STEP` goes back to one."""
    from afresh.app.orders.tasks import find_task
    from afresh.app.results.recover_task import list_task_checkpoints
    from afresh.cli.render.checkpoints import checkpoint_to_json, render_checkpoints

    project = open_current_project()
    name = find_task(project, task)
    found = list_task_checkpoints(project, name)
    over = project.store.load(name).status.over
    if as_json:
        return print_json([checkpoint_to_json(one.state, one.reason, over) for one in found])
    return print_lines(render_checkpoints(name, [(one.state, one.reason) for one in found], over, measure_width()))
