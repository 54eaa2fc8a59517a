"""All tasks, and what each needs next."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from afresh.cli.views.parts import listing, said, word
from afresh.domain.state import State
from afresh.domain.task import Status
from afresh.domain.text import one_line
from afresh.ports import Ticket
from afresh.projections.standing import commands_for, counted

if TYPE_CHECKING:
    from rich.console import RenderableType


def status_json(tickets: Sequence[Ticket], states: Mapping[str, State]) -> dict[str, Any]:
    """States may be given for some tasks only; the others show what their ticket says."""
    return {"tasks": [_row(ticket, states.get(ticket.task)) for ticket in tickets]}


def status(tickets: Sequence[Ticket], states: Mapping[str, State], offer: str = "") -> "RenderableType":
    """`offer`: what could be done where there is no task."""
    from rich.console import Group
    from rich.text import Text

    rows = status_json(tickets, states)["tasks"]
    if not rows and offer:
        return Text.assemble("No tasks here. ", (offer, "cyan"))
    if not rows:
        return Text.assemble("No tasks yet. ", ('afresh run "goal"', "cyan"), " starts one.")
    table = listing("task", "state", "goal", ">step", "next")
    for row in rows:
        table.add_row(said(row["task"], "bold"), _state(row), _goal(row), _steps(row), said(row["next"], "cyan"))
    counts = {state: sum(row["status"] == state for row in rows) for state in dict.fromkeys(row["status"] for row in rows)}
    foot = Text(", ".join(f"{count} {state}" for state, count in counts.items()), style="dim")
    if asking := sum(bool(row["question"]) for row in rows):
        foot.append(f"; {counted(asking, 'question')} for you: ").append("afresh inbox", "cyan")
    return Group(table, foot)


def _row(ticket: Ticket, state: State | None) -> dict[str, Any]:
    question = state.question if state else ""
    return {
        "task": ticket.task,
        "status": ticket.status.value,
        "ready": ticket.ready,
        "owner": ticket.owner,
        "goal": ticket.goal,
        "type": ticket.type,
        "priority": ticket.priority,
        "needs": list(ticket.needs),
        "question": question,
        "options": list(state.options) if state else [],
        "step": state.step if state else None,
        "max_steps": state.limit if state else None,
        "verdict": state.verdict.ruling.value if state and state.verdict else None,
        "outcome": state.outcome if state else "",
        "next": _next(ticket, question),
    }


def _next(ticket: Ticket, question: str) -> str:
    """Nothing can be done for a task that a living worker holds or that waits for another."""
    held = ticket.owner or (ticket.status is Status.READY and not ticket.ready)
    return f"afresh show {ticket.task}" if held else commands_for(ticket.task, ticket.status, bool(question))[0]


def _state(row: dict[str, Any]) -> "RenderableType":
    from rich.text import Text

    text = word(row["status"])
    if row["owner"]:
        text.append(f"\n{one_line(row['owner'], 24)}", "dim")
    elif row["status"] == "running":
        text.append("\ninterrupted", "yellow")
    elif row["status"] == "ready" and not row["ready"]:
        text.append(f"\nafter {one_line(', '.join(row['needs']), 24)}", "dim")
    return Text.assemble(text)


def _goal(row: dict[str, Any]) -> "RenderableType":
    text = said(row["goal"], limit=90)
    if row["question"]:
        text.append(f"\nasks: {one_line(row['question'], 160)}", "yellow")
    return text


def _steps(row: dict[str, Any]) -> str:
    return "" if row["step"] is None else f"{row['step']}/{row['max_steps']}"
