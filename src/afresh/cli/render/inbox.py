"""Questions that wait for a person, and what each answer would mean."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from afresh.cli.render.widgets import make_table, render_fields, render_text
from afresh.core.question import parse_options
from afresh.core.state import State
from afresh.core.truncate import to_one_line
from afresh.views.task_status import describe_age, describe_question, format_count
from afresh.views.tasks import find_newest_answer, open_question_to_json

if TYPE_CHECKING:
    from rich.console import RenderableType


MAX_PATHS = 6


def render_inbox(waiting: Sequence[State], now: float) -> "RenderableType":
    from rich.console import Group
    from rich.text import Text

    if not waiting:
        return Text.assemble("No open questions. ", ("afresh status", "cyan"), " shows all tasks.")
    asks = "1 open question" if len(waiting) == 1 else f"{len(waiting):,} open questions"
    first = Text(f"{asks}{', oldest first' if len(waiting) > 1 else ''}.", style="dim")
    return Group(first, *(_render_inbox_question(state, now) for state in waiting))


def _render_inbox_question(state: State, now: float) -> "RenderableType":
    from rich.console import Group
    from rich.padding import Padding
    from rich.rule import Rule
    from rich.text import Text

    head = Text.assemble(
        (to_one_line(state.task.id, 40), "bold"),
        (
            f"  asked {describe_age(now - state.times.updated)} by the {state.dialogue.asked_by or 'model'}, after step {state.work.step}",
            "dim",
        ),
    )
    parts: list[RenderableType] = [Text(), render_text(describe_question(state), "yellow")]
    if state.dialogue.options:
        parts += [Text(), render_options(state)]
    parts += [Text(), render_fields(_list_question_fields(state)), Text(), _render_answer_commands(state)]
    return Group(Text(), Rule(head, align="left", style="dim"), Padding(Group(*parts), (0, 0, 0, 2)))


def render_options(state: State) -> "RenderableType":
    """Numbered, with what each would mean."""
    from rich.table import Table

    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="cyan", no_wrap=True)
    grid.add_column(style="bold", max_width=32, overflow="fold")
    grid.add_column(ratio=1, overflow="fold")
    for one in parse_options(state.dialogue.options):
        grid.add_row(str(one.number), render_text(one.name), render_text(one.means))
    return grid


def _list_question_fields(state: State) -> list[tuple[str, Any]]:
    row = open_question_to_json(state)
    rows: list[tuple[str, Any]] = [("goal", render_text(state.task.goal, limit=200))]
    paths = ", ".join(state.workspace.changed[:MAX_PATHS]) + (
        f" and {len(state.workspace.changed) - MAX_PATHS:,} more" if len(state.workspace.changed) > MAX_PATHS else ""
    )
    so_far = f"{format_count(len(state.workspace.changed), 'file')} changed: {paths}" if paths else "no files changed"
    rows.append(
        (
            "so far",
            render_text(
                f"{so_far} ({state.workspace.kept:,} kept, {state.workspace.reverted:,} reverted in {format_count(state.work.step, 'step')})"
            ),
        )
    )
    if state.verification.baseline and state.verification.baseline.runs:
        rows.append(("tests", f"{row['tests']['before']} → {row['tests']['now']}"))
    return rows


def _render_answer_commands(state: State) -> "RenderableType":
    """What to type: the numbers are only offered where there are some."""
    task = state.task.id
    rows: list[tuple[Any, str]] = []
    if state.dialogue.options:
        rows.append((render_text(f"afresh answer {task} 1", "cyan"), "choose an option by number"))
    rows.append((render_text(f'afresh answer {task} "…"', "cyan"), "or in your own words" if rows else "in your own words"))
    if state.workspace.commit:
        rows.append((render_text(f"afresh apply {task} --unverified", "cyan"), "apply the result as it is"))
    rows.append((render_text(f"afresh discard {task}", "cyan"), "delete its work"))
    table = make_table("", "")
    table.show_header = False
    for way, what in rows:
        table.add_row(way, render_text(what, "dim"))
    return table


def describe_answer(before: State, state: State) -> str:
    """Tells the choice back, so that a wrong number is seen at once."""
    newest = find_newest_answer(before, state)
    return f"answered: {to_one_line(newest.text, 300)}\n{state.task.id} is ready to continue: afresh resume {state.task.id}"
