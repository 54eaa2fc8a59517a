"""`afresh edit`: when a task has its turn, and what it is filed under."""

import click

from afresh.app.orders.tasks import find_task, order_limits
from afresh.app.project import Project
from afresh.app.queue.queue_place import PlaceEdit, edit_place, make_place
from afresh.cli.options import make_knob_option, priority_type, with_task
from afresh.errors import BadInput
from afresh.views.page import Page
from afresh.views.task_facts import describe_limits, format_time, limits_to_json


@click.command("edit")
@click.argument("task")
@click.option("--priority", type=priority_type, default=None, metavar="N", help="Higher values run first.")
@click.option("--after", multiple=True, metavar="TASK", help="Also wait until TASK is done. Repeatable.")
@click.option("--not-after", multiple=True, metavar="TASK", help="Wait for TASK no longer, or for none: all. Repeatable.")
@click.option("--label", "-l", "labels", multiple=True, metavar="L", help="Add a label. Repeatable.")
@click.option("--no-label", "no_labels", multiple=True, metavar="L", help="Remove a label. Repeatable.")
@click.option("--due", default="", metavar="WHEN", help="2026-12-31, 2026-12-31T18:00, in 6h, 3d, 2w; none: no due time.")
@make_knob_option("budget", "max_budget")
@click.option("--project", "project_name", default="", metavar="P", help="File it under this project.")
@with_task
def command(project: Project, task: str, **given) -> Page:
    """Change the limits of TASK and its place in the queue: priority, what it waits for, labels, due time.

    The goal and the checks of a task never change; `afresh discard` it and add another.
    """
    if all(value in (None, "", (), {}) for value in given.values()):
        raise BadInput("nothing to change", next="`afresh edit --help` lists the options", safe="nothing was changed")
    if knobs := given.pop("knobs"):
        state = order_limits(project, task, knobs.get("budget", 0), knobs.get("max_budget", 0))
        if not any(given.values()) and given["priority"] is None:
            data = {"task": task, "status": state.status.value, "limits": limits_to_json(state)}
            return Page(data, f"{task} is {state.status}: {describe_limits(state)}")
    no_due = given["due"] == "none"
    after = tuple(find_task(project, need) for need in given["after"])
    not_after = tuple(need if need == "all" else find_task(project, need) for need in given["not_after"])
    filing = make_place(project.clock.now(), 0, (), given["labels"], "" if no_due else given["due"], given["project_name"])
    edit = PlaceEdit(given["priority"], after, not_after, filing, given["no_labels"], no_due)
    place = edit_place(project, task, edit.apply).place
    due = format_time(place.due) if place.due else None
    data = {"task": task, "priority": place.priority, "needs": [*place.needs]}
    data |= {"labels": [*place.labels], "due": due, "project": place.project or None}
    filed = [f"labels: {', '.join(place.labels)}"] if place.labels else []
    filed += [f"due {due}"] if due else []
    filed += [f"project {place.project}"] if place.project else []
    text = f"{task} has priority {place.priority} and waits for {', '.join(place.needs) or 'no other task'}"
    return Page(data, "\n".join([text, *filter(None, ["; ".join(filed)])]))
