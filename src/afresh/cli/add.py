"""`afresh add`: one task, or the tasks of a list."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from afresh.cli.options import (
    TASK_KNOBS,
    OrderCommand,
    add_order_options,
    is_attended,
    make_knob_option,
    make_order_terms,
    open_current_project,
    priority_type,
    read_order,
    select_limits,
)
from afresh.cli.output import measure_width, wants_json
from afresh.views.page import Page

if TYPE_CHECKING:
    from afresh.app.orders.check_order import OrderTerms
    from afresh.app.orders.import_list import ListImport
    from afresh.app.orders.tasks import TaskOrder
    from afresh.app.project import Project
    from afresh.core.state import State

LIST_OPTIONS = (
    click.option("--from", "file", default="", metavar="FILE", help="Add a list: a Markdown checklist or JSON; - reads stdin."),
    click.option("--own", is_flag=True, help="Trust the JSON as your own words: also use its types and checks."),
    click.option(
        "--from-tests",
        "tests",
        is_flag=False,
        flag_value="",
        default=None,
        metavar="[COMMAND]",
        help="Add a task for each failing test (default: the project's test command).",
    ),
    click.option("--from-violations", "violations", is_flag=True, help="Add a task for each file with complex functions."),
    click.option("--dry-run", is_flag=True, help="Show what a list would add, and add nothing."),
)
FILING_OPTIONS = (
    click.option("--label", "-l", "labels", multiple=True, metavar="L", help="Label to find it by. Repeatable."),
    click.option("--due", default="", metavar="WHEN", help="2026-12-31, 2026-12-31T18:00, or in 6h, 3d, 2w."),
    click.option("--project", "project_name", default="", metavar="P", help="Project of the task (default: the repository)."),
)


def add_options(*options: Callable[..., Any]) -> Callable[..., Any]:
    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


@click.command("add", cls=OrderCommand)
@add_order_options
@click.option("--priority", default=0, type=priority_type, metavar="N", help="Higher values run first.")
@click.option(
    "--after",
    "needs",
    multiple=True,
    metavar="TASK",
    help="Wait until TASK is done; starts from your HEAD, not from its result. Repeatable.",
)
@add_options(*FILING_OPTIONS, *LIST_OPTIONS)
@make_knob_option(*TASK_KNOBS)
def command(goal: str | None, type_: str, checks: tuple[str, ...], **more) -> Page:
    """Add a task to the queue, or the tasks of a list. `afresh work` runs them."""
    from afresh.app.orders.tasks import TaskOrder, add_task, find_task
    from afresh.app.queue.queue_place import make_place

    chosen = [name for name in ("file", "violations") if more[name]] + (["tests"] if more["tests"] is not None else [])
    if len(chosen) > 1 or (chosen and (goal or more["issue"])):
        raise click.UsageError("give one of GOAL, --from-issue, --from, --from-tests and --from-violations")
    project = open_current_project()
    wanted = tuple(find_task(project, need) for need in more["needs"])
    place = make_place(project.clock.now(), more["priority"], wanted, more["labels"], more["due"], more["project_name"])
    terms = make_order_terms(more["no_check"], more["force"], is_attended(), silent=wants_json(), starts_now=False)
    order = TaskOrder("", type_, checks, place, model=more["model"], **select_limits(more))
    if chosen:
        return add_list(project, order, terms, more)
    if more["dry_run"] or more["own"]:
        raise click.UsageError("--dry-run and --own are about lists: --from, --from-tests or --from-violations")
    from dataclasses import replace

    goal, events = read_order(goal, more)
    return make_added_output(project, add_task(project, replace(order, goal=goal), terms, events))


def make_added_output(project: "Project", state: "State") -> Page:
    from afresh.app.inspect.inspect_instructions import describe_task_instructions

    task, commands = state.task, [check.command for check in state.task.checks]
    none = "that the places it cites exist" if task.report else "none, so the result can't be verified (set --check)"
    lines = [f"added {task.id}", *([f"writes only {task.report}"] if task.report else [])]
    lines += ["checks: " + (", ".join(commands) or none), *describe_task_instructions(project, state)]
    return Page({"task": task.id, "checks": commands, "report": task.report}, "\n".join(lines))


def add_list(project: "Project", order: "TaskOrder", terms: "OrderTerms", more: dict[str, Any]) -> Page:
    from afresh.app.orders.import_list import add_task_list, read_task_list
    from afresh.cli.render.activity import show_activity_line

    with show_activity_line("reading the list") as tell:
        if more["file"]:
            task_list = read_task_list(project, more["file"], more["own"], order)
        else:
            from afresh.app.orders.find_tasks import list_failing_tests, list_violation_tasks

            task_list = (
                list_violation_tasks(project, order) if more["violations"] else list_failing_tests(project, more["tests"], order)
            )
        list_import = add_task_list(project, task_list, terms, more["dry_run"], tell)
    return make_list_output(list_import, more["dry_run"])


def make_list_output(list_import: "ListImport", dry_run: bool) -> Page:
    from afresh.core.text import format_count
    from afresh.core.truncate import to_one_line
    from afresh.views.task_facts import find_ticket_state

    added = [
        {"task": entry.task.id, "goal": entry.task.goal, "line": entry.line, "needs": [*entry.task.needs],
         "checks": [check.command for check in entry.task.checks]}
        for entry in list_import.added
    ]  # fmt: skip
    known = [{"task": ticket.task, "state": find_ticket_state(ticket).value} for ticket in list_import.known]
    width = measure_width()
    lines = [f"{'would add' if dry_run else 'added'} {format_count(len(list_import.added), 'task')}"]
    for task in (entry.task for entry in list_import.added):
        lines += ["  " + to_one_line(task.id, width - 2), "    " + to_one_line(task.goal, width - 4)]
        lines += ["    " + to_one_line(f"after {', '.join(task.needs)}", width - 4)] if task.needs else []
    lines += [f"{format_count(len(list_import.known), 'task')} there already:"] if list_import.known else []
    lines += ["  " + to_one_line(f"{ticket['task']}  {ticket['state']}", width - 2) for ticket in known]
    return Page({"added": added, "known": known, "dry_run": dry_run}, "\n".join(lines))
