"""Where to pick up the project: its active tasks, the next action of each, and how to go on. Under 2,000 tokens, always."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from afresh.domain import event as happened
from afresh.domain.amend import apply_corrections
from afresh.domain.event import JournalEntry
from afresh.domain.state import State
from afresh.domain.task import TaskStatus
from afresh.domain.text import to_visible_json, to_visible_json_lines
from afresh.ports import QueueTicket
from afresh.projections.document import render_json_document
from afresh.projections.fit import truncate_to_tokens, list_within_tokens
from afresh.projections.pick_up import NAME_TOKENS, summarise_for_handover
from afresh.projections.standing import list_next_steps
from afresh.projections.told import NO_RULES_OR_CORRECTIONS, RulesAndCorrections

MAX_TASK_ROWS = 6
ALL_ROWS_TOKENS = 420
"""Tasks that have a row, and tokens of all rows together."""
_ROW_OVERHEAD_TOKENS = 36 + NAME_TOKENS
"""Tokens of a row without goal and next step."""
_STATUS_RANK = {TaskStatus.RUNNING: 0, TaskStatus.BLOCKED: 1, TaskStatus.READY: 2}
_UNREVIEWED_STATUSES = TaskStatus.DONE, TaskStatus.FAILED
"""Over, and nobody has said yet what is to become of it."""
_REORDERING_EVENTS = happened.TaskCreated, happened.TaskClaimed, happened.QuestionAnswered, happened.TaskEnded
"""Events that may change the order of the tasks."""
_MEMORY_FILES = {
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
_RESUME_COMMANDS = {
    "afresh status": "all tasks, their questions and next commands",
    "afresh resume TASK": "go on after the last finished step",
    'afresh answer TASK "…"': "answer an open question",
    "afresh work --until-empty": "take the ready tasks one after the other",
    "without afresh": "work in the worktree, or check out the branch once it has a commit; run the checks",
}


def render_continuity(
    tickets: Sequence[QueueTicket], load: Callable[[str], State], told: RulesAndCorrections = NO_RULES_OR_CORRECTIONS
) -> str:
    """From all tickets; loads only the tasks that it names. With none active, the last that waits for a person's word. Parts are
    picked up with the task that they belong to."""
    tickets = [ticket for ticket in tickets if not ticket.parent]
    active = [ticket for ticket in tickets if not ticket.status.over]
    unseen = [ticket for ticket in reversed(tickets) if ticket.status in _UNREVIEWED_STATUSES]
    waits = {ticket.task: _describe_waits(ticket, tickets) for ticket in active if ticket.needs}
    active.sort(key=lambda ticket: (_STATUS_RANK[ticket.status], bool(waits.get(ticket.task)), -ticket.priority, ticket.task))
    states = [apply_corrections(load(ticket.task), told.edits) for ticket in active[:MAX_TASK_ROWS]]
    rows = [_render_row(state, waits.get(state.task.id, ""), len(states)) for state in states]
    first = states[0] if states else apply_corrections(load(unseen[0].task), told.edits) if unseen else None
    review = list_within_tokens((f"{ticket.task} ({ticket.status})" for ticket in unseen), 66, NAME_TOKENS + 4)
    return _render_document(_summarise_first_task(first, told) if first else None, len(active), rows, review)


def update_continuity(
    text: str,
    state: State,
    entries: Sequence[JournalEntry],
    tell: Callable[[], RulesAndCorrections] = lambda: NO_RULES_OR_CORRECTIONS,
) -> str | None:
    """The same file after a commit of one task; None when more than that task's row may differ."""
    if state.task.parent and text:
        return text
    if state.status.over or not entries or any(isinstance(entry.event, _REORDERING_EVENTS) for entry in entries):
        return None
    try:
        rows: list[dict[str, Any]] = json.loads(text)["tasks"]
        found = [place for place, row in enumerate(rows) if row["task"] == state.task.id]
        if not found:
            return (
                text if len(rows) == MAX_TASK_ROWS and truncate_to_tokens(state.task.id, NAME_TOKENS) == state.task.id else None
            )
        told = tell()
        state = apply_corrections(state, told.edits)
        row = to_visible_json(_render_row(state, rows[found[0]].get("waits for", ""), len(rows)))
        return _replace_row(text.split("\n"), found[0], row, _summarise_first_task(state, told) if found[0] == 0 else None)
    except (ValueError, KeyError, TypeError, AttributeError, StopIteration):
        return None


def _replace_row(lines: list[str], place: int, row: str, first: Mapping[str, Any] | None) -> str:
    """Only what differs is made again: this runs in every step."""
    row_at = lines.index('"tasks": [') + 1 + place
    lines[row_at] = row + ("," if lines[row_at].endswith(",") else "")
    if first:
        end = next(i for i, line in enumerate(lines) if line.startswith('"active":'))
        lines[1:end] = [f'"pick_up": {to_visible_json_lines(first)},']
    return "\n".join(lines)


def _summarise_first_task(state: State, told: RulesAndCorrections) -> dict[str, Any]:
    return summarise_for_handover(state, [rule.fact.text for rule in told.rules])


def _describe_waits(ticket: QueueTicket, tickets: Sequence[QueueTicket]) -> str:
    reached = {other.task for other in tickets if other.status in (TaskStatus.DONE, TaskStatus.APPLIED)}
    return truncate_to_tokens(", ".join(need for need in ticket.needs if need not in reached), 8)


def _render_row(state: State, waits: str, rows: int) -> dict[str, Any]:
    room = max(6, min(50, (ALL_ROWS_TOKENS // rows - _ROW_OVERHEAD_TOKENS) // 2))
    row: dict[str, Any] = {
        "task": truncate_to_tokens(state.task.id, NAME_TOKENS),
        "status": state.status.value,
        "progress": f"{state.phase}, step {state.step}/{state.limit}",
        "goal": truncate_to_tokens(state.task.goal, room),
        "next": truncate_to_tokens(next(iter(list_next_steps(state)), ""), room),
    }
    return row | {"waits for": waits} if waits else row


def _render_document(
    first: Mapping[str, Any] | None, active: int, rows: Sequence[Mapping[str, Any]], review: Sequence[str]
) -> str:
    return render_json_document(
        {
            "pick_up": first,
            "active": active,
            "tasks": rows,
            "over, to be applied or discarded": review,
            "memory, beside this file": _MEMORY_FILES,
            "resume": _RESUME_COMMANDS,
        }
    )
