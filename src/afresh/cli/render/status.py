"""Renders all tasks, with the next command for each."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from socket import gethostname
from typing import TYPE_CHECKING

from afresh.cli.render.widgets import (
    FIELD_GAP_COLUMNS,
    WORD_STYLES,
    Line,
    Span,
    count_columns,
    lay_out_fields,
    quote_text,
    wrap_line,
)
from afresh.core.task import QueueTicket, TaskStatus, describe_worker, name_briefly
from afresh.core.text import format_count
from afresh.core.truncate import to_one_line
from afresh.errors import WAY_BACK
from afresh.views.task_facts import (
    TicketState,
    describe_age,
    describe_blockers,
    describe_filing,
    describe_short_age,
    explain_wait,
    find_ticket_state,
)
from afresh.views.task_list import (
    SETTLED_STATUSES,
    QueueOverview,
    TaskGroup,
    choose_next_command,
    find_open_question,
)

if TYPE_CHECKING:
    from afresh.app.stored_state.lost_state import EmptyStore

LEAST_STATUS_COLUMNS = 9


@dataclass(frozen=True, slots=True)
class StatusPage:
    """What a page of tasks shows beside the tasks."""

    empty: "EmptyStore | None" = None
    """Why there are no tasks."""
    damage: Mapping[str, str] = field(default_factory=dict[str, str])
    """Damage of the journal, by task."""
    now: float = 0.0
    """The current time, for the age of each task; 0: no ages."""
    spending: Sequence[str] = ()
    """Limits that are reached or nearly reached."""
    costs: Mapping[str, str] = field(default_factory=dict[str, str])
    """Cost by task; tasks without cost are missing."""
    width: int = 80


def render_status(seen: QueueOverview, page: StatusPage) -> list[Line]:
    width = page.width
    lines = [line for text in page.spending for line in wrap_line(quote_text(f"{text}.", "bold yellow"), width)]
    for task, what in page.damage.items():
        lines += wrap_line(quote_text(f"Damaged: task {task}: {what}. {WAY_BACK}.", "bold red"), width)
    if not seen.groups and page.empty and page.empty.lost:
        note = f"{page.empty.what[0].upper()}{page.empty.what[1:]}."
        return [*lines, *wrap_line(quote_text(note, "bold red"), width), *wrap_line(quote_text(page.empty.next, "cyan"), width)]
    if not seen.groups and page.empty and page.empty.next:
        return [*lines, [("No tasks yet. ", ""), (page.empty.next, "cyan")]]
    if not seen.groups:
        return [*lines, [("No tasks yet. ", ""), ('afresh run "goal"', "cyan"), (" starts one.", "")]]
    for place, group in enumerate(seen.groups):
        lines += [[], [(group.title, "bold")]] if place else [[(group.title, "bold")]]
        lines += _render_group(group, seen, page)
    return [*lines, [], *wrap_line(_render_counts(seen), width)]


def _render_counts(seen: QueueOverview) -> Line:
    line: list[Span] = [(", ".join(_list_counts(seen)), "dim")]
    if asking := seen.counts.questions:
        line += [(f"; {format_count(asking, 'open question')}: ", "dim"), ("afresh answer", "cyan")]
    if any(find_ticket_state(ticket) is TicketState.READY for group in seen.groups for ticket in group.tickets):
        line += [("; ", "dim"), ("afresh work", "cyan"), (" runs the next", "dim")]
    return line


def _list_counts(seen: QueueOverview) -> list[str]:
    """Count tasks by the state that their row shows. Of more tasks than are listed it is not known."""
    unsure = {TaskStatus.RUNNING: "running or interrupted", TaskStatus.READY: "ready or waiting"}
    counts = Counter[str]()
    for status, count in seen.counts.by_status.items():
        listed = [ticket for group in seen.groups for ticket in group.tickets if ticket.status is status]
        if status not in unsure or len(listed) < count:
            counts[unsure.get(status, status)] += count
        else:
            counts.update(find_ticket_state(ticket).value for ticket in listed)
    return [f"{count} {state}" for state, count in counts.items()]


def _render_group(group: TaskGroup, seen: QueueOverview, page: StatusPage) -> list[Line]:
    rows = [
        (
            (find_ticket_state(ticket).value, WORD_STYLES.get(find_ticket_state(ticket).value, "dim")),
            _render_ticket(ticket, seen, page),
        )
        for ticket in group.tickets
    ]
    if group.hidden > 0:
        command = " ".join(("afresh status", *(f"--status {status}" for status in group.statuses)))
        rows.append((("", ""), [(f"… {group.hidden:,} more: ", "dim"), (command, "cyan")]))
    return lay_out_fields(rows, page.width, LEAST_STATUS_COLUMNS)


def _render_ticket(ticket: QueueTicket, seen: QueueOverview, page: StatusPage) -> Line:
    lines = [
        [*quote_text(f"{name_briefly(ticket.task)}  ", "bold"), *quote_text(ticket.goal, limit=160)],
        _render_progress(ticket, page),
    ]
    if ticket.status in (TaskStatus.FAILED, TaskStatus.DONE, TaskStatus.UNCHANGED) and ticket.detail:
        lines.append(quote_text(ticket.detail.outcome, "dim", limit=160))
    lines += [quote_text(text, "dim", limit=160) for text in _list_filing(ticket)]
    if blocked := describe_blockers(ticket):
        lines.append(quote_text(blocked, "yellow", limit=320))
    if question := find_open_question(ticket):
        lines.append(quote_text(f"asks: {question}", "yellow", limit=240))
    for part in seen.parts.get(ticket.task, ()):
        named = part.task.removeprefix(ticket.task + "-")
        lines.append(quote_text(f"  part {named}  {part.status}{_describe_steps(part)}  {part.goal}", "dim", limit=120))
    shown = [line for line in lines if any(text for text, _ in line)]
    return [span for place, line in enumerate(shown) for span in ([("\n", ""), *line] if place else line)]


def _render_progress(ticket: QueueTicket, page: StatusPage) -> Line:
    """Steps, age, cost and who works on it or what it waits for, then the next command."""
    parts = [_describe_steps(ticket).strip()]
    parts += [describe_age(page.now - ticket.detail.updated)] if page.now and ticket.detail else []
    parts += [page.costs[ticket.task]] if ticket.task in page.costs else []
    if ticket.owner:
        parts.append(_describe_owner(ticket))
    elif ticket.detail and ticket.detail.follows:
        parts.append(f"on {name_briefly(ticket.detail.follows)}")
    elif ticket.status is TaskStatus.READY and ticket.needs and not ticket.ready:
        parts.append(f"after {to_one_line(', '.join(map(name_briefly, ticket.needs)), 80)}")
    line: list[Span] = [("  ".join(parts), "dim")]
    command = choose_next_command(ticket) if ticket.status not in SETTLED_STATUSES else ""
    return [*line, ("  ", ""), (command, "cyan")] if command and not command.startswith("afresh show") else line


def _list_filing(ticket: QueueTicket) -> list[str]:
    """What it is filed under, and when it is tried again."""
    filed = [" · ".join(text)] if (text := describe_filing(ticket.marks)) else []
    waits = find_ticket_state(ticket) is TicketState.PENDING and ticket.waits_for_retry
    return [*filed, explain_wait(ticket)] if waits else filed


def _describe_steps(ticket: QueueTicket) -> str:
    return f"  step {ticket.detail.step}/{ticket.detail.limit}" if ticket.detail else ""


LEAST_GOAL_COLUMNS = 24
"""A goal with less room stands below its task."""
ROW_INDENT = "    "
INBOX_HINT = "Answer with: afresh answer TASK. Questions: afresh answer"


def render_task_rows(tickets: Sequence[QueueTicket], costs: Mapping[str, str], now: float, width: int) -> list[Line]:
    """Render a row per task: id, status, steps, age, cost, and the goal beside or below it."""
    shown = {ticket.task for ticket in tickets}
    rows = [_list_row_cells(ticket, ticket.parent in shown, costs, now) for ticket in tickets]
    widths = [max(count_columns(row[place]) for row in rows) for place in range(len(rows[0]))]
    left = width - sum(widths) - FIELD_GAP_COLUMNS * sum(1 for one in widths if one)
    lines: list[Line] = []
    for ticket, cells in zip(tickets, rows, strict=True):
        line = [(pad_cell(cell, widths[place]), _choose_cell_style(place, cell)) for place, cell in enumerate(cells)]
        goal = ticket.goal if left >= LEAST_GOAL_COLUMNS else ""
        lines.append([*line, *quote_text(goal, limit=max(left, 1))])
        below = [] if goal else [ticket.goal]
        room = max(1, width - len(ROW_INDENT))
        notes = (*below, *_list_row_notes(ticket))
        lines += [[(ROW_INDENT, ""), *quote_text(text, "dim", limit=room)] for text in notes]
        why = quote_text(describe_blockers(ticket), "dim")
        lines += [[(ROW_INDENT, ""), *row] for row in wrap_line(why, room) if row]  # whole: it names commands
    return [*lines, [(INBOX_HINT, "dim")]] if any(map(_asks_person, tickets)) else lines


def pad_cell(text: str, width: int) -> str:
    """Return the text with blanks after it; an empty column takes no room."""
    return text + " " * (width - count_columns(text) + FIELD_GAP_COLUMNS) if width else ""


def _list_row_cells(ticket: QueueTicket, is_part: bool, costs: Mapping[str, str], now: float) -> tuple[str, ...]:
    detail = ticket.detail
    step = f"{detail.step}/{detail.limit}" if detail else ""
    age = describe_short_age(now - detail.updated) if detail else ""
    return (
        f"{'  ' if is_part else ''}{ticket.task}",
        find_ticket_state(ticket).value,
        step,
        age,
        costs.get(ticket.task, ""),
    )


def _choose_cell_style(place: int, cell: str) -> str:
    return "bold" if place == 0 else WORD_STYLES.get(cell, "dim") if place == 1 else "dim"


def _list_row_notes(ticket: QueueTicket) -> list[str]:
    notes = [f"after {', '.join(ticket.needs)}"] if ticket.needs else []
    notes += _list_filing(ticket)
    notes += [_describe_owner(ticket)] if ticket.owner else []
    notes += [f"on {ticket.detail.follows}"] if ticket.detail and ticket.detail.follows else []
    return [*notes, f"asks: {find_open_question(ticket)}"] if _asks_person(ticket) else notes


def _describe_owner(ticket: QueueTicket) -> str:
    return f"run by {to_one_line(describe_worker(ticket.owner, gethostname()), 60)}"


def _asks_person(ticket: QueueTicket) -> bool:
    return ticket.status is TaskStatus.BLOCKED and bool(find_open_question(ticket))
