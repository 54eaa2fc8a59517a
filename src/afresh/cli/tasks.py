"""`afresh status` and `show`: tasks in the queue."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from afresh.cli.exit_codes import ExitCode
from afresh.cli.options import quiet_option, read_current_tasks, verbose_option, with_task
from afresh.cli.output import measure_width, print_lines, wants_json
from afresh.views.page import Page

if TYPE_CHECKING:
    from afresh.app.project import Project
    from afresh.app.queue.read_tasks import TaskReader
    from afresh.app.spending.read_spending import TaskSpending
    from afresh.core.task import QueueTicket


STATE_NAMES = ("pending", "ready", "running", "interrupted", "blocked", "paused",
               "done", "failed", "unchanged", "applied", "discarded")  # fmt: skip


def add_ticket_filters(function: Callable[..., Any]) -> Callable[..., Any]:
    for option in (
        click.option("--project", "project_name", default="", metavar="P", help="Only tasks of this project."),
        click.option("--due", default="", metavar="WHEN", help="Only tasks due before this (7d, 2026-12-31), soonest first."),
        click.option("--label", "-l", "labels", multiple=True, metavar="L", help="Only tasks with this label. Repeatable."),
        click.option(
            "--state", "--status", "-s", "states", multiple=True, type=click.Choice(STATE_NAMES), metavar="STATE",
            help=f"Only tasks in this state: {', '.join(STATE_NAMES)}. Repeatable.",
        ),
    ):  # fmt: skip
        function = option(function)
    return function


def _find_tickets(project: "TaskReader", filters: Mapping[str, Any]) -> "Sequence[QueueTicket]":
    from afresh.core.task import TicketOrder, TicketQuery
    from afresh.views.task_facts import find_ticket_state, list_statuses_of_states
    from afresh.views.task_list import order_parts_after_tasks

    if not any(filters.values()):
        return order_parts_after_tasks(project.queue.tickets())
    from afresh.app.queue.queue_place import make_place

    states = filters["states"]
    wanted = make_place(project.clock.now(), 0, (), filters["labels"], filters["due"], filters["project_name"])
    query = TicketQuery(
        list_statuses_of_states(states),
        labels=wanted.labels,
        project="" if wanted.project == project.root.name else wanted.project,
        due_before=wanted.due,
        order=TicketOrder.DUE if wanted.due else TicketOrder.QUEUE,
    )
    tickets = project.queue.tickets(query)
    fits = [ticket for ticket in tickets if not states or find_ticket_state(ticket).value in states]
    if wanted.project == project.root.name:
        fits = [ticket for ticket in fits if not ticket.marks.project]
    return fits if wanted.due else order_parts_after_tasks(fits)


def _render_task_rows(project: "TaskReader", tickets: "Sequence[QueueTicket]", filters: Mapping[str, Any]) -> Page:
    from afresh.app.stored_state.lost_state import explain_empty_store
    from afresh.cli.render.status import render_task_rows
    from afresh.core.task import TicketQuery

    if tickets:
        return Page(None, render_task_rows(tickets, _describe_task_costs(project.root), project.clock.now(), measure_width()))
    if any(filters.values()) and project.queue.tickets(TicketQuery(most=1)):
        others = any(value for name, value in filters.items() if name != "states")
        return Page(None, "no such tasks" if others else f"no {' or '.join(filters['states'])} tasks")
    empty = explain_empty_store(project.queue, project.export_folder)
    text = f"{empty.what}; {empty.next}" if empty and empty.next else 'no tasks yet; start one: afresh run "GOAL"'
    return Page(None, text, ExitCode.SETUP if empty and empty.lost else 0)


@click.command("status")
@add_ticket_filters
@click.option("--all", "-a", "everything", is_flag=True, help="All tasks, a line each, even finished ones.")
@click.option("--graph", is_flag=True, help="Show which tasks wait for which: each above those it waits for.")
@click.option("--mermaid", is_flag=True, help="With --graph: print Mermaid, as Markdown pages show it.")
def status_command(everything: bool, graph: bool, mermaid: bool, **filters) -> Page:
    """Show running, waiting and finished tasks, with the next command for each."""
    from afresh.app.stored_state.lost_state import explain_empty_store
    from afresh.cli.render.status import StatusPage, render_status
    from afresh.views.task_list import survey_queue, ticket_detail_to_json
    from afresh.views.work_figures import work_figures_to_json

    project = read_current_tasks()
    if graph or mermaid:
        return _draw_graph(project, mermaid)
    now, as_json = project.clock.now(), wants_json()
    if (everything or any(filters.values())) and not as_json:
        return _render_task_rows(project, _find_tickets(project, filters), filters)
    spending, seen = _list_limit_warnings(project.root, now), survey_queue(project.queue)
    damage = project.find_damage([ticket.task for group in seen.groups for ticket in group.tickets])
    empty = None if seen.groups else explain_empty_store(project.queue, project.export_folder)
    lost = {"damage": dict(damage)} if damage else {"lost": [empty.what, empty.next]} if empty and empty.lost else {}
    code = ExitCode.SETUP if lost else 0
    if as_json:
        rows, figures = _find_tickets(project, filters), work_figures_to_json(project.queue.figures())
        return Page({"tasks": [*map(ticket_detail_to_json, rows)], "spending": spending, "figures": figures} | lost, code=code)
    page = StatusPage(empty, damage, now, spending, _describe_task_costs(project.root), measure_width())
    return Page(None, render_status(seen, page), code)


def _draw_graph(project: "TaskReader", mermaid: bool) -> Page:
    from afresh.views.task_graph import draw_graph_lines, graph_to_json, read_task_graph, render_mermaid

    graph = read_task_graph(project.queue)
    if not (graph.is_whole or mermaid or wants_json()):
        click.echo("There are more open tasks than are shown.", err=True)
    lines = draw_graph_lines(graph, measure_width()) or ["no task waits for another"]
    return Page(graph_to_json(graph), render_mermaid(graph) if mermaid else "\n".join(lines))


def _describe_task_costs(root: Path) -> Mapping[str, str]:
    from afresh.app.queue.read_tasks import has_user_ledger

    if not has_user_ledger():
        return {}
    from afresh.app.spending.read_spending import describe_task_costs

    return describe_task_costs(root)


def _list_limit_warnings(root: Path, now: float) -> list[str]:
    from afresh.app.queue.read_tasks import has_user_ledger

    if not has_user_ledger():
        return []
    from afresh.app.spending.read_spending import warn_of_limits

    return warn_of_limits(root, now)


@click.command("show")
@click.argument("task", required=False)
@click.option("--diff", "with_diff", is_flag=True, help="Add what it has changed (as `afresh diff`).")
@click.option("--decisions", is_flag=True, help="Show its decisions as a tree instead.")
@click.option("--checkpoints", is_flag=True, help="Show the points that `afresh resume --from` goes back to instead.")
@click.option("--follow", "-f", is_flag=True, help="Follow it while another process works on it (default: the one that runs).")
@verbose_option
@quiet_option
def show_command(
    task: str | None, with_diff: bool, decisions: bool, checkpoints: bool, follow: bool, verbose: bool, quiet: bool
) -> Page | int:
    """Show TASK (default: the latest): checks, changes, steps, failures, next commands.

    --follow shows each step as it ends, until the task ends or needs an answer, with the exit code of `afresh run`. Ctrl-C ends
    only the watching.
    """
    from afresh.app.queue.read_tasks import find_task_id, find_ticket

    if decisions or checkpoints:
        return (show_decisions if decisions else show_checkpoints)(task=task)
    project = read_current_tasks()
    if follow:
        from afresh.cli.watch import watch_task

        return watch_task(project, task, verbose, quiet)
    state = project.load(find_task_id(project.queue, project.export_folder, task))
    ticket = find_ticket(project.queue, state.task.id)
    if wants_json():
        from afresh.app.results.read_task_diff import list_diff_changes
        from afresh.app.spending.read_spending import cost_to_json, read_task_spending
        from afresh.views.task_facts import task_to_json
        from afresh.views.task_list import ticket_to_json
        from afresh.views.tasks import changes_to_json

        spent = read_task_spending(project.root, state.task.id)
        cost = cost_to_json(spent.line) | {"calls_sent": list(spent.tokens), "calls_nano_dollars": list(spent.money)}
        diff = {"diff": changes_to_json(list_diff_changes(project.root, state))} if with_diff else {}
        return Page(task_to_json(state) | {"cost": cost, "queue": ticket_to_json(ticket) if ticket else {}} | diff)
    from afresh.cli.render.task import render_task

    print_lines(render_task(state, find_task_spending(project.root, state.task.id), measure_width(), ticket))
    if with_diff:
        from afresh.cli.diff import print_task_diff

        click.echo()
        print_task_diff(project.root, state)
    return 0


def find_task_spending(root: Path, task: str) -> "TaskSpending | None":
    """None if there is no ledger yet."""
    from afresh.app.queue.read_tasks import has_user_ledger

    if not has_user_ledger():
        return None
    from afresh.app.spending.read_spending import read_task_spending

    return read_task_spending(root, task)


@with_task
def show_checkpoints(project: "Project", task: str) -> Page:
    from afresh.app.results.recover_task import list_task_checkpoints
    from afresh.cli.render.checkpoints import build_checkpoints

    found = [(checkpoint.state, checkpoint.reason) for checkpoint in list_task_checkpoints(project, task)]
    return build_checkpoints(task, found, project.store.load(task).status.over)


@with_task
def show_decisions(project: "Project", task: str) -> Page:
    from afresh.cli.render.decisions import build_decisions
    from afresh.views.decision_log import list_decisions
    from afresh.views.decision_tree import build_decision_tree

    return build_decisions(project.store.load(task), build_decision_tree(list_decisions(project.store.journal(task))))
