"""Where to pick up the project: its active tasks, the next action of each, and how to go on. Under 2,000 tokens, always."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from afresh.domain.state import State
from afresh.domain.task import Status
from afresh.domain.text import one_line, visible_json, visible_json_lines
from afresh.ports import Ticket
from afresh.projections.standing import commands, iso, next_steps, tally

TASKS = 20
_RANK = {Status.RUNNING: 0, Status.BLOCKED: 1, Status.READY: 2}
_MEMORY = {
    "journal": "afresh.db (the truth; all else here is made from it)",
    "session": "sessions/<task>.md",
    "ended sessions": "sessions/archive/<task>.md",
    "decisions": "decisions/<task>.jsonl",
    "task state": "tasks/<task>.json",
    "checkpoint": "checkpoints/<task>.md (when a window was nearly full of what can't be left out)",
}
_RESUME = {
    "afresh status": "all tasks, their questions and next commands",
    "afresh resume TASK": "go on after the last finished step",
    "afresh work --until-empty": "take the ready tasks one after the other",
    'afresh answer TASK "…"': "answer an open question",
    "afresh rebuild": "make these files again from the journal",
}


def render(tickets: Sequence[Ticket], load: Callable[[str], State]) -> str:
    """From all tickets; loads only the tasks that it names."""
    active = [ticket for ticket in tickets if not ticket.status.over]
    waits = {ticket.task: _waits(ticket, tickets) for ticket in active if ticket.needs}
    active.sort(key=lambda ticket: (_RANK[ticket.status], bool(waits.get(ticket.task)), -ticket.priority, ticket.task))
    states = [load(ticket.task) for ticket in active[:TASKS]]
    rows = [_row(state, waits.get(state.task.id, ""), len(states)) for state in states]
    return _text(_pick_up(states[0]) if states else None, rows, len(active))


def updated(text: str, state: State) -> str | None:
    """The same file after a step of one task; None when more than that task's row may differ."""
    try:
        rows: list[dict[str, Any]] = json.loads(text)["tasks"]
        place = next(i for i, row in enumerate(rows) if row["task"] == _short(state.task.id, 40))
        if rows[place]["status"] != state.status.value:
            return None
        row = visible_json(_row(state, rows[place].get("waits for", ""), len(rows)))
        return _with_row(text.split("\n"), place, row, _pick_up(state) if place == 0 else None)
    except (ValueError, KeyError, TypeError, AttributeError, StopIteration):
        return None


def _with_row(lines: list[str], place: int, row: str, pick_up: Mapping[str, Any] | None) -> str:
    """Only what differs is made again: this runs in every step."""
    row_at = lines.index('"tasks": [') + 1 + place
    lines[row_at] = row + ("," if lines[row_at].endswith(",") else "")
    if pick_up:
        end = next(i for i, line in enumerate(lines) if line.startswith('"active":'))
        lines[1:end] = [f'"pick_up": {visible_json_lines(pick_up)},']
    return "\n".join(lines)


def _waits(ticket: Ticket, tickets: Sequence[Ticket]) -> str:
    reached = {other.task for other in tickets if other.status in (Status.DONE, Status.APPLIED)}
    return _short(", ".join(need for need in ticket.needs if need not in reached), 40)


def _row(state: State, waits: str, rows: int) -> dict[str, Any]:
    room = min(120, 800 // rows)
    row: dict[str, Any] = {
        "task": _short(state.task.id, 40),
        "goal": _short(state.task.goal, room),
        "status": state.status.value,
        "progress": f"{state.phase}, step {state.step}/{state.limit}",
        "next": _short(next(iter(next_steps(state)), ""), room),
    }
    return row | {"waits for": waits} if waits else row


def _pick_up(state: State) -> dict[str, Any]:
    runs = state.verdict.runs if state.verdict else state.baseline.runs if state.baseline else ()
    return {
        "task": _short(state.task.id, 40),
        "goal": _short(state.task.goal, 240),
        "last outcome": _short(state.outcome, 120),
        "tests": tally(runs).words if runs else "not run",
        "changed": len(state.changed),
        "next": [_short(step, 120) for step in next_steps(state)[:2]],
        "command": commands(state)[0],
        "updated": iso(state.updated),
    }


def _short(text: str, limit: int) -> str:
    """At most `limit` bytes: in scripts where a character is a token or more, fewer characters."""
    text = one_line(text, limit)
    while len(text.encode()) > limit:
        text = text[: max(1, len(text) * 9 // 10 - 1)].rstrip("…") + "…"
    return text


def _text(pick_up: Mapping[str, Any] | None, rows: Sequence[Mapping[str, Any]], active: int) -> str:
    parts = {
        "pick_up": visible_json_lines(pick_up) if pick_up else "null",
        "active": str(active),
        "tasks": "[\n" + ",\n".join(visible_json(row) for row in rows) + "\n]" if rows else "[]",
        "memory": visible_json_lines(_MEMORY),
        "resume": visible_json_lines(_RESUME),
    }
    return "{\n" + ",\n".join(f'"{name}": {part}' for name, part in parts.items()) + "\n}\n"
