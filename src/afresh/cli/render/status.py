"""Renders all tasks, with the next command for each."""

from collections.abc import Sequence

from afresh.cli.render.widgets import WORD_STYLES, Line, Span, lay_out_fields, quote_text, wrap_line
from afresh.core.task import QueueTicket, TaskStatus
from afresh.core.truncate import to_one_line
from afresh.views.task_list import (
    SETTLED_STATUSES,
    QueueOverview,
    TaskGroup,
    choose_next_command,
    describe_ticket_status,
    find_open_question,
)
from afresh.views.task_status import (
    describe_age,
    format_count,
)

LEAST_STATUS_COLUMNS = 9


def render_status(
    seen: QueueOverview, offer: str = "", now: float = 0.0, spending: Sequence[str] = (), width: int = 80
) -> list[Line]:
    """Render the queue. `offer` is shown if there are no tasks; with `now`, each task's age is shown; `spending` lists limits
    that are reached or nearly reached."""
    lines = [line for text in spending for line in wrap_line(quote_text(f"{text}.", "bold yellow"), width)]
    if not seen.groups and offer:
        return [*lines, [("No tasks yet. ", ""), (offer, "cyan")]]
    if not seen.groups:
        return [*lines, [("No tasks yet. ", ""), ('afresh run "goal"', "cyan"), (" starts one.", "")]]
    for place, group in enumerate(seen.groups):
        lines += [[], [(group.title, "bold")]] if place else [[(group.title, "bold")]]
        lines += _render_group(group, seen, now, width)
    return [*lines, [], *wrap_line(_render_counts(seen), width)]


def _render_counts(seen: QueueOverview) -> Line:
    line: list[Span] = [(", ".join(f"{count} {status}" for status, count in seen.counts.by_status.items()), "dim")]
    if asking := seen.counts.questions:
        line += [(f"; {format_count(asking, 'open question')}: ", "dim"), ("afresh inbox", "cyan")]
    return line


def _render_group(group: TaskGroup, seen: QueueOverview, now: float, width: int) -> list[Line]:
    rows = [
        (
            (describe_ticket_status(ticket), WORD_STYLES.get(describe_ticket_status(ticket), "dim")),
            _render_ticket(ticket, seen, now),
        )
        for ticket in group.tickets
    ]
    if group.hidden > 0:
        command = " ".join(("afresh list", *(f"--status {status}" for status in group.statuses)))
        rows.append((("", ""), [(f"… {group.hidden:,} more: ", "dim"), (command, "cyan")]))
    return lay_out_fields(rows, width, LEAST_STATUS_COLUMNS)


def _render_ticket(ticket: QueueTicket, seen: QueueOverview, now: float) -> Line:
    lines = [_render_first_line(ticket, now), quote_text(ticket.goal, limit=160)]
    if ticket.status in (TaskStatus.FAILED, TaskStatus.DONE) and ticket.detail:
        lines.append(quote_text(ticket.detail.outcome, "dim", limit=160))
    if question := find_open_question(ticket):
        lines.append(quote_text(f"asks: {question}", "yellow", limit=240))
    for part in seen.parts.get(ticket.task, ()):
        named = part.task.removeprefix(ticket.task + "-")
        lines.append(quote_text(f"  part {named}  {part.status}{_describe_steps(part)}  {part.goal}", "dim", limit=120))
    if ticket.status not in SETTLED_STATUSES:
        lines.append([(choose_next_command(ticket), "cyan")])
    shown = [line for line in lines if any(text for text, _ in line)]
    return [span for place, line in enumerate(shown) for span in ([("\n", ""), *line] if place else line)]


def _render_first_line(ticket: QueueTicket, now: float) -> Line:
    when = f"  {describe_age(now - ticket.detail.updated)}" if now and ticket.detail else ""
    line = [*quote_text(ticket.task, "bold"), (_describe_steps(ticket) + when, "dim")]
    if ticket.owner:
        line.append((f"  run by {to_one_line(ticket.owner, 40)}", "dim"))
    elif ticket.status is TaskStatus.READY and not ticket.ready:
        line.append((f"  after {to_one_line(', '.join(ticket.needs), 80)}", "dim"))
    return line


def _describe_steps(ticket: QueueTicket) -> str:
    return f"  step {ticket.detail.step}/{ticket.detail.limit}" if ticket.detail else ""
