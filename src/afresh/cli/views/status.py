"""All tasks, and what each needs next."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from afresh.cli.views.inbox import ago
from afresh.cli.views.parts import heading, said, word
from afresh.domain.state import State
from afresh.domain.task import Status
from afresh.domain.text import one_line
from afresh.ports import Ticket
from afresh.projections.standing import commands_for, counted, iso

if TYPE_CHECKING:
    from rich.console import RenderableType

LAST = 5
_TITLES = {"running": "At work", "ready": "To come"}
_NOTHING_TO_DO = ("applied", "discarded")


def status_json(tickets: Sequence[Ticket], states: Mapping[str, State]) -> dict[str, Any]:
    """States may be given for some tasks only; the others show what their ticket says."""
    return {"tasks": [_row(ticket, states.get(ticket.task)) for ticket in tickets]}


def status(
    tickets: Sequence[Ticket], states: Mapping[str, State], offer: str = "", now: float = 0.0, spending: Sequence[str] = ()
) -> "RenderableType":
    """`offer`: what could be done where there is no task. With `now` it tells how long ago each had its last event. `spending`:
    limits that are reached, or nearly."""
    from rich.console import Group

    return Group(*(said(f"{text}.", "bold yellow") for text in spending), _all(tickets, states, offer, now))


def _all(tickets: Sequence[Ticket], states: Mapping[str, State], offer: str, now: float) -> "RenderableType":
    from rich.console import Group
    from rich.text import Text

    rows = status_json(tickets, states)["tasks"]
    if not rows and offer:
        return Text.assemble("No tasks here. ", (offer, "cyan"))
    if not rows:
        return Text.assemble("No tasks yet. ", ('afresh run "goal"', "cyan"), " starts one.")
    parts: list[RenderableType] = []
    for title, shown in _groups(rows).items():
        parts += [heading(title) if parts else Text(title, style="bold"), _tasks(shown, states, now)]
    counts = {state: sum(row["status"] == state for row in rows) for state in dict.fromkeys(row["status"] for row in rows)}
    foot = Text("\n" + ", ".join(f"{count} {state}" for state, count in counts.items()), style="dim")
    if asking := sum(bool(row["question"]) for row in rows):
        foot.append(f"; {counted(asking, 'question')} for you: ").append("afresh inbox", "cyan")
    return Group(*parts, foot)


def _groups(rows: Sequence[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """What waits for a person comes first. What was applied or discarded is only counted, but for the last few."""
    groups: dict[str, list[dict[str, Any]]] = {"Needs you": [], "At work": [], "To come": [], "Over": []}
    for row in rows:
        stopped = row["status"] == "running" and not row["owner"]
        title = "Needs you" if stopped or row["status"] in ("blocked", "done", "failed") else _TITLES.get(row["status"], "Over")
        groups[title].append(row)
    groups["Over"] = groups["Over"][-LAST:]
    return {title: shown for title, shown in groups.items() if shown}


def _tasks(rows: Sequence[dict[str, Any]], states: Mapping[str, State], now: float) -> "RenderableType":
    from rich.table import Table

    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True, min_width=9)
    grid.add_column(ratio=1, overflow="fold")
    for row in rows:
        state = states.get(row["task"])
        grid.add_row(word(row["status"]), _told(row, f"  {ago(now - state.updated)}" if now and state else ""))
    return grid


def _told(row: dict[str, Any], when: str) -> "RenderableType":
    from rich.text import Text

    text = said(row["task"], "bold").append(_steps(row) + when, "not bold dim")
    if row["owner"]:
        text.append(f"  held by {one_line(row['owner'], 40)}", "not bold dim")
    elif row["status"] == "running":
        text.append("  interrupted", "not bold yellow")
    elif row["status"] == "ready" and not row["ready"]:
        text.append(f"  after {one_line(', '.join(row['needs']), 80)}", "not bold dim")
    lines = [text, said(row["goal"], limit=160)]
    if row["status"] in ("failed", "done"):
        lines.append(said(row["outcome"], "dim", limit=160))
    if row["question"]:
        lines.append(said(f"asks: {row['question']}", "yellow", limit=240))
    shown = [line for line in (*lines, said("" if row["status"] in _NOTHING_TO_DO else row["next"], "cyan")) if line.plain]
    return Text("\n").join(shown)


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
        "updated": iso(state.updated) if state else None,
        "next": _next(ticket, question),
    }


def _next(ticket: Ticket, question: str) -> str:
    """Nothing can be done for a task that a living worker holds or that waits for another."""
    held = ticket.owner or (ticket.status is Status.READY and not ticket.ready)
    return f"afresh show {ticket.task}" if held else commands_for(ticket.task, ticket.status, bool(question))[0]


def _steps(row: dict[str, Any]) -> str:
    return "" if row["step"] is None else f"  step {row['step']}/{row['max_steps']}"
