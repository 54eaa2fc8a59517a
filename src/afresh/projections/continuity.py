"""Where to pick up the project: its active tasks, the next action of each, and how to go on. Under 2,000 tokens, always."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from afresh.domain import event as happened
from afresh.domain.amend import amended
from afresh.domain.event import Entry
from afresh.domain.state import State
from afresh.domain.task import Status
from afresh.domain.text import visible_json, visible_json_lines
from afresh.ports import Ticket
from afresh.projections.document import document
from afresh.projections.fit import fitted, listed
from afresh.projections.pick_up import NAME, pick_up
from afresh.projections.standing import next_steps
from afresh.projections.told import SILENCE, Told

TASKS = 6
ROWS = 420
"""Tasks that have a row, and tokens of all rows together."""
_ROW = 36 + NAME
"""Tokens of a row without goal and next step."""
_RANK = {Status.RUNNING: 0, Status.BLOCKED: 1, Status.READY: 2}
_UNSEEN = Status.DONE, Status.FAILED
"""Over, and nobody has said yet what is to become of it."""
_MOVES = happened.Created, happened.Claimed, happened.Answered, happened.Ended
"""Events that may change the order of the tasks."""
_MEMORY = {
    "afresh.db": "the journal: the truth, all else is made from it",
    "sessions/<task>.md": "where a task stands; sessions/archive when it is over",
    "decisions/<task>.jsonl": "who decided what, and why",
    "context/<task>.json": "what the last call held, left out, and what is archived",
    "checkpoints/<task>.md": "all that is known, every 15 minutes and at 60 % of the steps",
    "tasks/<task>.json": "its state in short",
    "project_memory.json": "what finished tasks have left behind",
    "../knowledge": "what tasks have learnt, to be approved or used",
    "worktrees/<task>": "its files, a git worktree on its branch",
}
"""Paths beside this file."""
_RESUME = {
    "afresh status": "all tasks, their questions and next commands",
    "afresh resume TASK": "go on after the last finished step",
    'afresh answer TASK "…"': "answer an open question",
    "afresh work --until-empty": "take the ready tasks one after the other",
    "without afresh": "work in the worktree, or check out the branch once it has a commit; run the checks",
}


def render(tickets: Sequence[Ticket], load: Callable[[str], State], told: Told = SILENCE) -> str:
    """From all tickets; loads only the tasks that it names. With none active, the last that waits for a person's word. Parts are
    picked up with the task that they belong to."""
    tickets = [ticket for ticket in tickets if not ticket.parent]
    active = [ticket for ticket in tickets if not ticket.status.over]
    unseen = [ticket for ticket in reversed(tickets) if ticket.status in _UNSEEN]
    waits = {ticket.task: _waits(ticket, tickets) for ticket in active if ticket.needs}
    active.sort(key=lambda ticket: (_RANK[ticket.status], bool(waits.get(ticket.task)), -ticket.priority, ticket.task))
    states = [amended(load(ticket.task), told.edits) for ticket in active[:TASKS]]
    rows = [_row(state, waits.get(state.task.id, ""), len(states)) for state in states]
    first = states[0] if states else amended(load(unseen[0].task), told.edits) if unseen else None
    review = listed((f"{ticket.task} ({ticket.status})" for ticket in unseen), 66, NAME + 4)
    return _text(_pick_up(first, told) if first else None, len(active), rows, review)


def updated(text: str, state: State, entries: Sequence[Entry], tell: Callable[[], Told] = lambda: SILENCE) -> str | None:
    """The same file after a commit of one task; None when more than that task's row may differ."""
    if state.task.parent and text:
        return text
    if state.status.over or not entries or any(isinstance(entry.event, _MOVES) for entry in entries):
        return None
    try:
        rows: list[dict[str, Any]] = json.loads(text)["tasks"]
        found = [place for place, row in enumerate(rows) if row["task"] == state.task.id]
        if not found:
            return text if len(rows) == TASKS and fitted(state.task.id, NAME) == state.task.id else None
        told = tell()
        state = amended(state, told.edits)
        row = visible_json(_row(state, rows[found[0]].get("waits for", ""), len(rows)))
        return _with_row(text.split("\n"), found[0], row, _pick_up(state, told) if found[0] == 0 else None)
    except (ValueError, KeyError, TypeError, AttributeError, StopIteration):
        return None


def _with_row(lines: list[str], place: int, row: str, first: Mapping[str, Any] | None) -> str:
    """Only what differs is made again: this runs in every step."""
    row_at = lines.index('"tasks": [') + 1 + place
    lines[row_at] = row + ("," if lines[row_at].endswith(",") else "")
    if first:
        end = next(i for i, line in enumerate(lines) if line.startswith('"active":'))
        lines[1:end] = [f'"pick_up": {visible_json_lines(first)},']
    return "\n".join(lines)


def _pick_up(state: State, told: Told) -> dict[str, Any]:
    return pick_up(state, [rule.fact.text for rule in told.rules])


def _waits(ticket: Ticket, tickets: Sequence[Ticket]) -> str:
    reached = {other.task for other in tickets if other.status in (Status.DONE, Status.APPLIED)}
    return fitted(", ".join(need for need in ticket.needs if need not in reached), 8)


def _row(state: State, waits: str, rows: int) -> dict[str, Any]:
    room = max(6, min(50, (ROWS // rows - _ROW) // 2))
    row: dict[str, Any] = {
        "task": fitted(state.task.id, NAME),
        "status": state.status.value,
        "progress": f"{state.phase}, step {state.step}/{state.limit}",
        "goal": fitted(state.task.goal, room),
        "next": fitted(next(iter(next_steps(state)), ""), room),
    }
    return row | {"waits for": waits} if waits else row


def _text(first: Mapping[str, Any] | None, active: int, rows: Sequence[Mapping[str, Any]], review: Sequence[str]) -> str:
    return document(
        {
            "pick_up": first,
            "active": active,
            "tasks": rows,
            "over, to be applied or discarded": review,
            "memory, beside this file": _MEMORY,
            "resume": _RESUME,
        }
    )
