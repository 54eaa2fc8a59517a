"""`afresh add`, `list`, `status`, `show` and `decisions`: tasks in the queue."""

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from afresh.cli.exit_codes import ExitCode
from afresh.cli.options import (
    add_order_options,
    json_option,
    make_order_terms,
    open_current_project,
    priority_type,
    read_current_tasks,
    read_order,
    select_limits,
)
from afresh.cli.output import measure_width, print_json, print_lines, print_rendered
from afresh.core.task import QueuePlace, TaskStatus

if TYPE_CHECKING:
    from afresh.app.read_spending import TaskSpending
    from afresh.app.read_tasks import TaskReader
    from afresh.core.task import QueueTicket


@click.command("add")
@add_order_options
@click.option("--priority", default=0, type=priority_type, metavar="N", help="Higher values run first.")
@click.option("--after", "needs", multiple=True, metavar="TASK", help="Start after TASK is done. Repeatable.")
@json_option
def add_command(
    goal: str | None, type_: str, checks: tuple[str, ...], priority: int, needs: tuple[str, ...], as_json: bool, **more
) -> None:
    """Add a task to the queue. `afresh work` runs it."""
    from afresh.app.inspect_instructions import describe_task_instructions
    from afresh.app.tasks import TaskOrder, add_task, find_task

    project = open_current_project()
    wanted = tuple(find_task(project, need) for need in needs)
    attended = sys.stdin.isatty() and sys.stderr.isatty() and not as_json
    terms = make_order_terms(more["no_check"], more["force"], attended, silent=as_json, starts_now=False)
    goal, events = read_order(goal, more)
    order = TaskOrder(goal, type_, checks, QueuePlace(priority, wanted), model=more["model"], **select_limits(more))
    state = add_task(project, order, terms, events)
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


def add_status_filter(function: Callable[..., Any]) -> Callable[..., Any]:
    text = "Only tasks with this status. Repeatable."
    return click.option("--status", "-s", "statuses", multiple=True, type=click.Choice(STATUS_NAMES), help=text)(function)


@click.command("list")
@add_status_filter
@json_option
def list_command(statuses: tuple[str, ...], as_json: bool) -> None:
    """List all tasks, a line each; the same as `afresh status --all`."""
    from afresh.views.task_list import ticket_to_json

    project = read_current_tasks()
    tickets = _find_tickets(project, statuses)
    if as_json:
        return print_json([ticket_to_json(ticket) for ticket in tickets])
    return _print_task_rows(project, tickets, statuses)


def _find_tickets(project: "TaskReader", statuses: tuple[str, ...]) -> "Sequence[QueueTicket]":
    from afresh.core.task import TicketQuery
    from afresh.views.task_list import order_parts_after_tasks

    return order_parts_after_tasks(project.queue.tickets(TicketQuery(tuple(TaskStatus(status) for status in statuses))))


def _print_task_rows(project: "TaskReader", tickets: "Sequence[QueueTicket]", statuses: tuple[str, ...]) -> None:
    from afresh.app.lost_state import explain_empty_store
    from afresh.cli.render.status import render_task_rows
    from afresh.core.task import TicketQuery

    if tickets:
        costs = _describe_task_costs(project.root)
        return print_lines(render_task_rows(tickets, costs, project.clock.now(), measure_width()))
    if statuses and project.queue.tickets(TicketQuery(most=1)):
        return click.echo(f"no {' or '.join(statuses)} tasks")
    empty = explain_empty_store(project.queue, project.export_folder)
    click.echo(f"{empty.what}; {empty.next}" if empty and empty.next else 'no tasks yet; start one: afresh run "GOAL"')
    if empty and empty.lost:
        raise SystemExit(ExitCode.SETUP)
    return None


@click.command("status")
@add_status_filter
@click.option("--all", "-a", "everything", is_flag=True, help="All tasks, a line each, also those that are over.")
@json_option
def status_command(statuses: tuple[str, ...], everything: bool, as_json: bool) -> None:
    """Show running, waiting and finished tasks, with the next command for each."""
    from afresh.app.lost_state import explain_empty_store
    from afresh.cli.render.status import StatusPage, render_status
    from afresh.views.task_list import survey_queue, ticket_detail_to_json

    project = read_current_tasks()
    now = project.clock.now()
    spending = _list_limit_warnings(project.root, now)
    if (everything or statuses) and not as_json:
        return _print_task_rows(project, _find_tickets(project, statuses), statuses)
    seen = survey_queue(project.queue)
    damage = project.find_damage([ticket.task for group in seen.groups for ticket in group.tickets])
    empty = None if seen.groups else explain_empty_store(project.queue, project.export_folder)
    lost = {"damage": dict(damage)} if damage else {"lost": [empty.what, empty.next]} if empty and empty.lost else {}
    if as_json:
        tickets = _find_tickets(project, statuses)
        print_json({"tasks": [ticket_detail_to_json(ticket) for ticket in tickets], "spending": spending} | lost)
    else:
        page = StatusPage(empty, damage, now, spending, _describe_task_costs(project.root), measure_width())
        print_lines(render_status(seen, page))
    if lost:
        raise SystemExit(ExitCode.SETUP)


def _describe_task_costs(root: Path) -> Mapping[str, str]:
    from afresh.app.read_tasks import has_user_ledger

    if not has_user_ledger():
        return {}
    from afresh.app.read_spending import describe_task_costs

    return describe_task_costs(root)


def _list_limit_warnings(root: Path, now: float) -> list[str]:
    from afresh.app.read_tasks import has_user_ledger

    if not has_user_ledger():
        return []
    from afresh.app.read_spending import warn_of_limits

    return warn_of_limits(root, now)


@click.command("show")
@click.argument("task", required=False)
@click.option("--diff", "with_diff", is_flag=True, help="Add what it has changed (as `afresh diff`).")
@click.option("--decisions", "with_decisions", is_flag=True, help="Show its decisions as a tree instead.")
@json_option
@click.pass_context
def show_command(context: click.Context, task: str | None, with_diff: bool, with_decisions: bool, as_json: bool) -> None:
    """Show TASK (default: the latest): checks, changes, steps, failures, next commands."""
    from afresh.app.read_tasks import find_task_id, find_ticket
    from afresh.views.task_list import describe_blockers

    if with_decisions:
        return context.invoke(decisions_command, task=task, as_json=as_json)
    project = read_current_tasks()
    state = project.load(find_task_id(project.queue, project.export_folder, task))
    if as_json:
        from afresh.app.read_spending import cost_to_json, read_task_spending
        from afresh.app.read_task_diff import list_diff_changes
        from afresh.views.tasks import changes_to_json, task_to_json

        spent = read_task_spending(project.root, state.task.id)
        cost = cost_to_json(spent.line) | {"calls_sent": list(spent.tokens), "calls_nano_dollars": list(spent.money)}
        diff = {"diff": changes_to_json(list_diff_changes(project.root, state))} if with_diff else {}
        return print_json(task_to_json(state) | {"cost": cost} | diff)
    from afresh.cli.render.task import render_task

    ticket = find_ticket(project.queue, state.task.id)
    blocked = describe_blockers(ticket) if ticket else ""
    print_lines(render_task(state, find_task_spending(project.root, state.task.id), measure_width(), blocked))
    if with_diff:
        from afresh.cli.diff import print_task_diff

        click.echo()
        print_task_diff(project.root, state)
    return None


def find_task_spending(root: Path, task: str) -> "TaskSpending | None":
    """None if there is no ledger yet."""
    from afresh.app.read_tasks import has_user_ledger

    if not has_user_ledger():
        return None
    from afresh.app.read_spending import read_task_spending

    return read_task_spending(root, task)


@click.command("decisions")
@click.argument("task", required=False)
@json_option
def decisions_command(task: str | None, as_json: bool) -> None:
    """Show the decisions of TASK (default: the latest) as a tree; the same as `afresh show --decisions`."""
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
