"""`afresh add`, `list`, `status`, `show` and `decisions`: tasks in the queue."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from afresh.cli.options import add_order_options, json_option, open_current_project, read_current_tasks
from afresh.cli.output import measure_width, print_json, print_lines, print_rendered
from afresh.core.task import TaskStatus

if TYPE_CHECKING:
    from afresh.core.task import QueueTicket


@click.command("add")
@add_order_options
@click.option("--priority", default=0, type=int, metavar="N", help="Higher values run first.")
@click.option("--after", "needs", multiple=True, metavar="TASK", help="Start after TASK is done. Repeatable.")
@json_option
def add_command(
    goal: str, type_: str, checks: tuple[str, ...], priority: int, needs: tuple[str, ...], as_json: bool, **more
) -> None:
    """Add a task to the queue. `afresh work` runs it."""
    from afresh.app.inspect_instructions import describe_task_instructions
    from afresh.app.tasks import TaskOrder, add_task, find_task

    project = open_current_project()
    wanted = tuple(find_task(project, need) for need in needs)
    limits = {"budget": more["budget"], "max_budget": more["max_budget"], "max_steps": more["steps"]}
    limits |= {"loop": more["loop"], "thinking": more["thinking"], "test_changes": more["test_changes"]}
    state = add_task(project, TaskOrder(goal, type_, checks, priority, wanted, more["model"], **limits))
    if as_json:
        commands = [check.command for check in state.task.checks]
        return print_json({"task": state.task.id, "checks": commands, "report": state.task.report})
    click.echo(f"added {state.task.id}")
    if state.task.report:
        click.echo(f"writes only {state.task.report}")
    none = "that the places it cites exist" if state.task.report else "none, so the result can't be verified (set --check)"
    click.echo("checks: " + (", ".join(check.command for check in state.task.checks) or none))
    for line in describe_task_instructions(project, state):
        click.echo(line)
    return None


STATUS_NAMES = tuple(status.value for status in TaskStatus)
INBOX_HINT = "Answer with: afresh answer TASK. Details: afresh inbox"


@click.command("list")
@click.option(
    "--status", "statuses", multiple=True, type=click.Choice(STATUS_NAMES), help="Only tasks with this status. Repeatable."
)
@json_option
def list_command(statuses: tuple[str, ...], as_json: bool) -> None:
    """List the tasks in the queue."""
    from afresh.app.read_tasks import offer_import
    from afresh.core.task import TicketQuery
    from afresh.views.task_list import order_parts_after_tasks, ticket_to_json

    project = read_current_tasks()
    wanted = TicketQuery(tuple(TaskStatus(status) for status in statuses))
    tickets = order_parts_after_tasks(project.queue.tickets(wanted))
    if as_json:
        return print_json([ticket_to_json(ticket) for ticket in tickets])
    if tickets:
        return click.echo("\n".join(_describe_tickets(tickets)))
    if statuses and project.queue.tickets(TicketQuery(most=1)):
        return click.echo(f"no {' or '.join(statuses)} tasks")
    lost = offer_import(project.queue, project.export_folder)
    return click.echo(f"no tasks yet; {lost}" if lost else 'no tasks yet; add one: afresh add "GOAL"')


def _describe_tickets(tickets: "list[QueueTicket]") -> list[str]:
    from afresh.core.truncate import to_one_line
    from afresh.views.task_list import describe_ticket_status, find_open_question

    lines: list[str] = []
    shown, asked = {ticket.task for ticket in tickets}, False
    for ticket in tickets:
        held = f" (run by {ticket.owner})" if ticket.owner else ""
        waits = f" after {', '.join(ticket.needs)}" if ticket.needs else ""
        name = f"  {ticket.task}" if ticket.parent in shown else ticket.task
        lines.append(
            f"{name:36} {describe_ticket_status(ticket):11} {ticket.type:18} {to_one_line(ticket.goal, 80)}{waits}{held}"
        )
        if ticket.status is TaskStatus.BLOCKED and (question := find_open_question(ticket)):
            lines.append(f"{'':36} asks: {to_one_line(question, 120)}")
            asked = True
    return [*lines, INBOX_HINT] if asked else lines


@click.command("status")
@json_option
def status_command(as_json: bool) -> None:
    """Show running, waiting and finished tasks, with the next command for each."""
    from afresh.app.read_tasks import offer_import
    from afresh.cli.render.status import render_status
    from afresh.views.task_list import survey_queue, ticket_detail_to_json

    project = read_current_tasks()
    now = project.clock.now()
    spending = _list_limit_warnings(project.root, now)
    if as_json:
        return print_json({"tasks": [ticket_detail_to_json(ticket) for ticket in project.queue.tickets()], "spending": spending})
    offer = offer_import(project.queue, project.export_folder)
    return print_lines(render_status(survey_queue(project.queue), offer, now, spending, measure_width()))


def _list_limit_warnings(root: Path, now: float) -> list[str]:
    from afresh.app.read_tasks import has_user_ledger

    if not has_user_ledger():
        return []
    from afresh.app.read_spending import warn_of_limits

    return warn_of_limits(root, now)


@click.command("show")
@click.argument("task", required=False)
@json_option
def show_command(task: str | None, as_json: bool) -> None:
    """Show TASK (default: the latest): checks, changes, steps, failures, next commands."""
    from afresh.app.read_tasks import find_task_id

    project = read_current_tasks()
    state = project.load(find_task_id(project.queue, project.export_folder, task))
    if as_json:
        from afresh.app.read_spending import cost_to_json, open_user_ledger, sum_task_calls
        from afresh.views.tasks import task_to_json

        cost = sum_task_calls(open_user_ledger(), project.root, state.task.id)
        return print_json(task_to_json(state) | {"cost": cost_to_json(cost)})
    from afresh.cli.render.task import render_task

    cost, paid = _describe_task_cost(project.root, state.task.id)
    return print_lines(render_task(state, cost, paid, measure_width()))


def _describe_task_cost(root: Path, task: str) -> tuple[str, str]:
    """Return the cost of a task with its subtasks, empty for free models, and its tokens, empty before the first call."""
    from afresh.app.read_tasks import has_user_ledger

    if not has_user_ledger():
        return "", ""
    from afresh.app.read_spending import describe_cost, describe_tokens, open_user_ledger, sum_task_calls

    line = sum_task_calls(open_user_ledger(), root, task)
    return describe_cost(line), describe_tokens(line) if line and line.calls else ""


@click.command("decisions")
@click.argument("task", required=False)
@json_option
def decisions_command(task: str | None, as_json: bool) -> None:
    """Show the decisions of TASK (default: the latest) as a tree."""
    from afresh.app.tasks import find_task
    from afresh.cli.render.decisions import render_decisions
    from afresh.views.decision_log import list_decisions
    from afresh.views.decision_tree import build_decision_tree, decisions_to_json

    project = open_current_project()
    state = project.store.load(find_task(project, task))
    grown = build_decision_tree(list_decisions(project.store.journal(state.task.id)))
    if as_json:
        return print_json(decisions_to_json(state, grown))
    return print_rendered(render_decisions(state, grown))
