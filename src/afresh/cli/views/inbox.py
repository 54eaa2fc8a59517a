"""Questions that wait for a person, and what each answer would mean."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from afresh.cli.views.parts import render_fields, make_table, check_runs_to_json, render_text
from afresh.domain.option import parse_options
from afresh.domain.said import UserStatement, list_user_statements
from afresh.domain.state import State
from afresh.domain.text import to_one_line
from afresh.projections.standing import list_next_commands, format_count, format_time

if TYPE_CHECKING:
    from rich.console import RenderableType

MAX_PATHS = 6


def open_questions_to_json(waiting: Sequence[State]) -> list[dict[str, Any]]:
    return [open_question_to_json(state) for state in waiting]


def open_question_to_json(state: State) -> dict[str, Any]:
    return {
        "task": state.task.id,
        "goal": state.task.goal,
        "since": format_time(state.updated),
        "by": state.asked_by,
        "step": state.step,
        "question": state.question,
        "options": options_to_json(state),
        "changed": list(state.changed),
        "kept": state.kept,
        "reverted": state.reverted,
        "tests": {"before": check_runs_to_json(state.baseline.runs if state.baseline else ())["words"],
                  "now": check_runs_to_json(state.verdict.runs if state.verdict else ())["words"]},
        "commands": [*list_next_commands(state), f"afresh discard {state.task.id}"],
    }  # fmt: skip


def options_to_json(state: State) -> list[dict[str, Any]]:
    return [{"number": one.number, "option": one.name, "means": one.means} for one in parse_options(state.options)]


def render_inbox(waiting: Sequence[State], now: float) -> "RenderableType":
    from rich.console import Group
    from rich.text import Text

    if not waiting:
        return Text.assemble("No task waits for an answer. ", ("afresh status", "cyan"), " shows where things stand.")
    asks = "1 question waits" if len(waiting) == 1 else f"{len(waiting):,} questions wait"
    first = Text(f"{asks} for your answer{', the oldest first' if len(waiting) > 1 else ''}.", style="dim")
    return Group(first, *(_render_inbox_question(state, now) for state in waiting))


def _render_inbox_question(state: State, now: float) -> "RenderableType":
    from rich.console import Group
    from rich.padding import Padding
    from rich.rule import Rule
    from rich.text import Text

    head = Text.assemble(
        (to_one_line(state.task.id, 40), "bold"),
        (f"  asked {describe_age(now - state.updated)} by the {state.asked_by or 'model'}, after step {state.step}", "dim"),
    )
    parts: list[RenderableType] = [Text(), render_text(state.question, "yellow")]
    if state.options:
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
    for one in parse_options(state.options):
        grid.add_row(str(one.number), render_text(one.name), render_text(one.means))
    return grid


def _list_question_fields(state: State) -> list[tuple[str, Any]]:
    row = open_question_to_json(state)
    rows: list[tuple[str, Any]] = [("goal", render_text(state.task.goal, limit=200))]
    paths = ", ".join(state.changed[:MAX_PATHS]) + (
        f" and {len(state.changed) - MAX_PATHS:,} more" if len(state.changed) > MAX_PATHS else ""
    )
    so_far = f"{format_count(len(state.changed), 'file')} changed: {paths}" if paths else "no file is changed"
    rows.append(
        (
            "so far",
            render_text(f"{so_far} ({state.kept:,} kept, {state.reverted:,} reverted in {format_count(state.step, 'step')})"),
        )
    )
    if state.baseline and state.baseline.runs:
        rows.append(("tests", f"{row['tests']['before']} → {row['tests']['now']}"))
    return rows


def _render_answer_commands(state: State) -> "RenderableType":
    """What to type: the numbers are only offered where there are some."""
    task = state.task.id
    rows: list[tuple[Any, str]] = []
    if state.options:
        rows.append((render_text(f"afresh answer {task} 1", "cyan"), "the number of an option"))
    rows.append((render_text(f'afresh answer {task} "…"', "cyan"), "or your own words" if rows else "your own words"))
    if state.commit:
        rows.append((render_text(f"afresh apply {task} --unverified", "cyan"), "take the result over as it is"))
    rows.append((render_text(f"afresh discard {task}", "cyan"), "drop the task"))
    table = make_table("", "")
    table.show_header = False
    for way, what in rows:
        table.add_row(way, render_text(what, "dim"))
    return table


def describe_age(seconds: float) -> str:
    for size, name in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= size:
            return f"{format_count(int(seconds // size), name)} ago"
    return "just now"


def find_newest_answer(before: State, state: State) -> UserStatement:
    """What was answered just now; whoever lets it go on at a pause has said nothing that a window would hold."""
    if len(state.words) > len(before.words):
        return list_user_statements(state)[-1]
    return UserStatement(before.options[0], before.question, before.options)


def answer_to_json(before: State, state: State) -> dict[str, Any]:
    newest = find_newest_answer(before, state)
    return {
        "task": state.task.id,
        "status": state.status.value,
        "question": newest.question,
        "answer": newest.text,
        "next": list(list_next_commands(state)),
    }


def describe_answer(before: State, state: State) -> str:
    """Tells the choice back, so that a wrong number is seen at once."""
    newest = find_newest_answer(before, state)
    return f"answered: {to_one_line(newest.text, 300)}\n{state.task.id} is ready again: afresh resume {state.task.id}"
