"""All tasks, and what each needs next."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from afresh.cli.render.inbox import describe_age
from afresh.cli.render.widgets import render_heading, render_text, render_word
from afresh.core.state import State
from afresh.core.task import QueueTicket
from afresh.core.truncate import to_one_line
from afresh.views.task_status import format_count
from afresh.views.tasks import tickets_to_json

if TYPE_CHECKING:
    from rich.console import RenderableType


MAX_OVER_SHOWN = 5
_TITLE_BY_STATUS = {"running": "At work", "ready": "To come"}
_SETTLED_STATUSES = ("applied", "discarded")


def render_status(
    tickets: Sequence[QueueTicket], states: Mapping[str, State], offer: str = "", now: float = 0.0, spending: Sequence[str] = ()
) -> "RenderableType":
    """`offer`: what could be done where there is no task. With `now` it tells how long ago each had its last event. `spending`:
    limits that are reached, or nearly."""
    from rich.console import Group

    return Group(*(render_text(f"{text}.", "bold yellow") for text in spending), _render_all_tasks(tickets, states, offer, now))


def _render_all_tasks(tickets: Sequence[QueueTicket], states: Mapping[str, State], offer: str, now: float) -> "RenderableType":
    from rich.console import Group
    from rich.text import Text

    rows = tickets_to_json(tickets, states)["tasks"]
    if not rows and offer:
        return Text.assemble("No tasks here. ", (offer, "cyan"))
    if not rows:
        return Text.assemble("No tasks yet. ", ('afresh run "goal"', "cyan"), " starts one.")
    parts: list[RenderableType] = []
    belonging = {row["task"]: [part for part in rows if part["parent"] == row["task"]] for row in rows}
    rows = [row | {"parts": belonging[row["task"]]} for row in rows if row["parent"] not in belonging]
    for title, shown in _group_rows(rows).items():
        parts += [render_heading(title) if parts else Text(title, style="bold"), _render_task_rows(shown, states, now)]
    counts = {state: sum(row["status"] == state for row in rows) for state in dict.fromkeys(row["status"] for row in rows)}
    foot = Text("\n" + ", ".join(f"{count} {state}" for state, count in counts.items()), style="dim")
    if asking := sum(bool(row["question"]) for row in rows):
        foot.append(f"; {format_count(asking, 'question')} for you: ").append("afresh inbox", "cyan")
    return Group(*parts, foot)


def _group_rows(rows: Sequence[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """What waits for a person comes first. What was applied or discarded is only counted, but for the last few."""
    groups: dict[str, list[dict[str, Any]]] = {"Needs you": [], "At work": [], "To come": [], "Over": []}
    for row in rows:
        stopped = row["status"] == "running" and not row["owner"]
        title = (
            "Needs you"
            if stopped or row["status"] in ("blocked", "done", "failed")
            else _TITLE_BY_STATUS.get(row["status"], "Over")
        )
        groups[title].append(row)
    groups["Over"] = groups["Over"][-MAX_OVER_SHOWN:]
    return {title: shown for title, shown in groups.items() if shown}


def _render_task_rows(rows: Sequence[dict[str, Any]], states: Mapping[str, State], now: float) -> "RenderableType":
    from rich.table import Table

    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True, min_width=9)
    grid.add_column(ratio=1, overflow="fold")
    for row in rows:
        state = states.get(row["task"])
        grid.add_row(
            render_word(row["status"]),
            _render_task_row(row, f"  {describe_age(now - state.times.updated)}" if now and state else ""),
        )
    return grid


def _render_task_row(row: dict[str, Any], when: str) -> "RenderableType":
    from rich.text import Text

    text = render_text(row["task"], "bold").append(_describe_steps(row) + when, "not bold dim")
    if row["owner"]:
        text.append(f"  held by {to_one_line(row['owner'], 40)}", "not bold dim")
    elif row["status"] == "running":
        text.append("  interrupted", "not bold yellow")
    elif row["status"] == "ready" and not row["ready"]:
        text.append(f"  after {to_one_line(', '.join(row['needs']), 80)}", "not bold dim")
    lines = [text, render_text(row["goal"], limit=160)]
    if row["status"] in ("failed", "done"):
        lines.append(render_text(row["outcome"], "dim", limit=160))
    if row["question"]:
        lines.append(render_text(f"asks: {row['question']}", "yellow", limit=240))
    for part in row["parts"]:
        named = part["task"].removeprefix(row["task"] + "-")
        lines.append(render_text(f"  part {named}  {part['status']}{_describe_steps(part)}  {part['goal']}", "dim", limit=120))
    shown = [
        line for line in (*lines, render_text("" if row["status"] in _SETTLED_STATUSES else row["next"], "cyan")) if line.plain
    ]
    return Text("\n").join(shown)


def _describe_steps(row: dict[str, Any]) -> str:
    return "" if row["step"] is None else f"  step {row['step']}/{row['max_steps']}"
