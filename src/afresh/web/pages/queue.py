"""The queue: a board of all tasks, what waits for what, and new tasks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from starlette.responses import Response

from afresh.app.inspect.inspect_templates import list_template_rows
from afresh.app.orders.check_order import OrderTerms
from afresh.app.orders.tasks import TaskOrder, add_task, find_task
from afresh.app.queue.queue_place import edit_place
from afresh.app.service.start_worker import explain_worker_stop, start_worker
from afresh.core.states.queue_state import QueuePlace
from afresh.core.task import QueueTicket, TicketOrder, TicketQuery
from afresh.core.truncate import to_one_line
from afresh.errors import BadInput
from afresh.views.task_facts import TicketState, find_ticket_state, list_statuses_of_states
from afresh.views.task_graph import read_task_graph
from afresh.views.task_list import survey_queue
from afresh.web.visit import PageRoute, Visit

TASKS_PER_PAGE = 50
MAX_FILTER_CHARACTERS = 40
MAX_GRAPH_TASKS = 80
NODE_WIDTH = 220
NODE_HEIGHT = 34
COLUMN_WIDTH = 280
ROW_HEIGHT = 48


@dataclass(frozen=True, slots=True)
class GraphNode:
    ticket: QueueTicket
    x: int
    y: int


@dataclass(frozen=True, slots=True)
class DependencyGraph:
    """Tasks in columns: each to the right of those that it waits for."""

    nodes: Sequence[GraphNode]
    edges: Sequence[tuple[GraphNode, GraphNode]]
    width: int
    height: int


def show_queue(visit: Visit) -> Response:
    number = max(1, visit.read_number("page", 1))
    wanted = {name: visit.request.query_params.get(name, "")[:MAX_FILTER_CHARACTERS] for name in ("label", "state")}
    tickets = find_tickets(visit, wanted, number * TASKS_PER_PAGE + 1)[(number - 1) * TASKS_PER_PAGE :]
    overview = survey_queue(visit.project.queue)
    return visit.show(
        "queue.html",
        overview=overview,
        explain_stop=partial(explain_worker_stop, visit.project),
        graph=draw_dependencies(visit),
        tickets=tickets[:TASKS_PER_PAGE],
        number=number,
        wanted=wanted,
        states=[state.value for state in TicketState],
        goals=visit.read_goals(need for group in overview.groups for ticket in group.tickets for need in ticket.needs),
        more=len(tickets) > TASKS_PER_PAGE,
        types=[row for row in list_template_rows(visit.project.templates) if row.kind == "work" and not row.fault],
        size=(NODE_WIDTH, NODE_HEIGHT),
    )


def find_tickets(visit: Visit, wanted: Mapping[str, str], most: int) -> Sequence[QueueTicket]:
    """Return the newest tasks with this label and in this state; an unknown state is none."""
    states = [state for state in TicketState if state == wanted["state"]]
    query = TicketQuery(
        list_statuses_of_states(states), parents=(), order=TicketOrder.NEWEST, most=0 if states else most,
        labels=(wanted["label"],) if wanted["label"] else (),
    )  # fmt: skip
    tickets = visit.project.queue.tickets(query)
    return [ticket for ticket in tickets if find_ticket_state(ticket) in states][:most] if states else tickets


def draw_dependencies(visit: Visit) -> DependencyGraph | None:
    """Draw the tasks that wait for others, and those, each in a column to the right of those; None if there are none."""
    graph = read_task_graph(visit.project.queue)
    columns, rows, nodes = dict[str, int](), dict[int, int](), dict[str, GraphNode]()
    for task, ticket in [*graph.tickets.items()][:MAX_GRAPH_TASKS]:
        column = columns[task] = 1 + max((columns.get(need, 0) for need in ticket.needs), default=0)
        rows[column] = rows.get(column, 0) + 1
        nodes[task] = GraphNode(ticket, (column - 1) * COLUMN_WIDTH, (rows[column] - 1) * ROW_HEIGHT)
    if not nodes:
        return None
    edges = [(nodes[need], nodes[task]) for need, task in graph.edges if need in nodes and task in nodes]
    width = (max(rows) - 1) * COLUMN_WIDTH + NODE_WIDTH + 2
    return DependencyGraph(list(nodes.values()), edges, width, max(rows.values()) * ROW_HEIGHT)


def add_order(visit: Visit) -> Response:
    form = visit.form
    with visit.open_to_change() as project:
        order = TaskOrder(
            goal=form.get("goal", "").strip(),
            type=form.get("type", ""),
            checks=tuple(filter(None, [form.get("check", "").strip()])),
            place=QueuePlace(read_priority(form), tuple(find_task(project, need) for need in form.get("needs", "").split())),
            model=form.get("model", "").strip(),
        )
        lines = list[str]()
        state = add_task(project, order, OrderTerms(starts_now="start" in form, tell=lines.append))
        if "start" in form:
            start_worker(project, state.task.id)
            lines.append("A worker has been started.")
    return visit.go(visit.link("tasks", state.task.id), "\n".join(["Added.", *lines]))


def read_priority(form: Mapping[str, str]) -> int:
    text = form.get("priority", "").strip()
    if not text:
        return 0
    if not text.removeprefix("-").isdecimal() or len(text) > 6:
        raise BadInput(f"priority {text!r} is not a whole number", next="go back and correct it", safe="nothing was changed")
    return int(text)


def change_place(visit: Visit) -> Response:
    form = visit.form
    with visit.open_to_change() as project:
        task = find_task(project, visit.get_part("task"))
        needs = tuple(find_task(project, need) for need in form.get("needs", "").split())
        priority = read_priority(form)
        goal = edit_place(project, task, lambda now: replace(now, priority=priority, needs=tuple(dict.fromkeys(needs)))).task.goal
    return visit.go(visit.link("queue"), f"“{to_one_line(goal, 60)}” has priority {priority} now.")


ROUTES = [
    PageRoute("/queue", show_queue),
    PageRoute("/queue", add_order, "POST"),
    PageRoute("/queue/{task}/place", change_place, "POST"),
]
