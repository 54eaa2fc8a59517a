"""`afresh edit`: when a task has its turn."""

import click

from afresh.cli.options import json_option, open_current_project, priority_type


@click.command("edit")
@click.argument("task")
@click.option("--priority", type=priority_type, default=None, metavar="N", help="Higher values run first.")
@click.option("--after", multiple=True, metavar="TASK", help="Also wait until TASK is done. Repeatable.")
@click.option("--not-after", multiple=True, metavar="TASK", help="Wait for TASK no longer. Repeatable.")
@json_option
def command(task: str, priority: int | None, after: tuple[str, ...], not_after: tuple[str, ...], as_json: bool) -> None:
    """Change the place of TASK in the queue: its priority, and the tasks it waits for.

    The goal and the checks of a task never change; `afresh discard` it and add another.
    """
    from afresh.app.queue_place import PlaceEdit, edit_place
    from afresh.app.tasks import find_task
    from afresh.cli.output import print_json
    from afresh.errors import BadInput

    if priority is None and not after and not not_after:
        raise BadInput("nothing to change", next="use --priority, --after or --not-after", safe="nothing was changed")
    project = open_current_project()
    name = find_task(project, task)
    edit = PlaceEdit(priority, *(tuple(find_task(project, need) for need in needs) for needs in (after, not_after)))
    place = edit_place(project, name, edit.apply).place
    if as_json:
        return print_json({"task": name, "priority": place.priority, "needs": [*place.needs]})
    return click.echo(f"{name} has priority {place.priority} and waits for {', '.join(place.needs) or 'no other task'}")
