"""What waits for what: tasks and their needs as text, Mermaid and plain data."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from afresh.core.task import QueueTicket, TaskStatus, TicketOrder, TicketQuery
from afresh.core.truncate import to_one_line
from afresh.views.task_facts import find_ticket_state

if TYPE_CHECKING:
    from afresh.ports.storage import TaskQueue

OPEN_STATUSES = (TaskStatus.READY, TaskStatus.RUNNING, TaskStatus.BLOCKED, TaskStatus.FAILED)
MAX_OPEN_READ = 500
"""Open tasks of each status that are looked at, the newest first."""
MAX_GOAL_CHARACTERS = 40


@dataclass(frozen=True, slots=True)
class TaskGraph:
    tickets: Mapping[str, QueueTicket]
    """Tasks that wait for others, and those: each after the ones that it waits for."""
    is_whole: bool = True
    """False: there are more open tasks than were looked at."""

    @property
    def edges(self) -> list[tuple[str, str]]:
        """Pairs: a task, and one that waits for it."""
        return [(need, task) for task, ticket in self.tickets.items() for need in ticket.needs if need in self.tickets]


def read_task_graph(queue: "TaskQueue") -> TaskGraph:
    """Read the open tasks that wait for others, with all that they wait for."""
    tickets = queue.tickets(TicketQuery(OPEN_STATUSES, parents=(), order=TicketOrder.NEWEST, most=MAX_OPEN_READ))
    known = {ticket.task: ticket for ticket in reversed(tickets)}
    waiting = [ticket for ticket in known.values() if ticket.needs]
    shown = {name: None for ticket in waiting for name in (ticket.task, *ticket.needs)}
    for name in [*shown]:
        _read_needs(queue, known, shown, name)
    ordered = _order_by_needs({name: known[name] for name in shown if name in known})
    return TaskGraph({name: known[name] for name in ordered}, len(tickets) < MAX_OPEN_READ)


def _read_needs(queue: "TaskQueue", known: dict[str, QueueTicket], shown: dict[str, None], task: str) -> None:
    left = [task]
    while left:
        name = left.pop()
        if name not in known:
            known |= {ticket.task: ticket for ticket in queue.tickets(TicketQuery(prefix=name)) if ticket.task == name}
        for need in known[name].needs if name in known else ():
            if need not in shown:
                shown[need] = None
                left.append(need)


def _order_by_needs(tickets: Mapping[str, QueueTicket]) -> list[str]:
    """Each task after those that it waits for. What waits in a circle comes last."""
    done, left = dict[str, None](), list(tickets)
    while left:
        ready = [task for task in left if all(need in done or need not in tickets for need in tickets[task].needs)] or left
        done |= dict.fromkeys(ready)
        left = [task for task in left if task not in done]
    return [*done]


def draw_graph_lines(graph: TaskGraph, width: int) -> list[str]:
    """Draw trees: each task with those that it waits for below it. A task that was drawn is only named again."""
    waited_for = {need for need, _ in graph.edges}
    roots = [task for task in graph.tickets if task not in waited_for] or [*graph.tickets][-1:]
    lines, drawn = list[str](), set[str]()
    for root in roots:
        left = [(root, "", "")]
        while left:
            task, before, below = left.pop()
            needs = [need for need in graph.tickets[task].needs if need in graph.tickets]
            again = task in drawn and needs
            lines.append(_draw_node(graph.tickets[task], before, width, bool(again)))
            drawn.add(task)
            for place, need in enumerate([] if again else needs[::-1]):
                left.append((need, f"{below}{'└─ ' if place == 0 else '├─ '}", f"{below}{'   ' if place == 0 else '│  '}"))
    return lines


def _draw_node(ticket: QueueTicket, before: str, width: int, again: bool) -> str:
    text = f"{ticket.task}  see above" if again else f"{ticket.task}  {find_ticket_state(ticket).value}  {ticket.goal}"
    return before + to_one_line(text, max(1, width - len(before)))


def graph_to_json(graph: TaskGraph) -> dict[str, Any]:
    nodes = [
        {"task": ticket.task, "goal": ticket.goal, "state": find_ticket_state(ticket).value, "needs": [*ticket.needs]}
        for ticket in graph.tickets.values()
    ]
    return {"tasks": nodes, "edges": [list(edge) for edge in graph.edges], "whole": graph.is_whole}


def render_mermaid(graph: TaskGraph) -> str:
    names = {task: f"t{number}" for number, task in enumerate(graph.tickets, 1)}
    nodes = [f'  {names[task]}["{_label(ticket).replace(chr(34), "#quot;")}"]' for task, ticket in graph.tickets.items()]
    return "\n".join(["graph LR", *nodes, *(f"  {names[need]} --> {names[task]}" for need, task in graph.edges)])


def _label(ticket: QueueTicket) -> str:
    return f"{to_one_line(ticket.goal, MAX_GOAL_CHARACTERS)} ({find_ticket_state(ticket).value})"
