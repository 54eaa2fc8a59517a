"""Questions that wait for a person, and what each answer would mean."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from afresh.cli.views.parts import fields, listing, runs_json, said
from afresh.domain.option import offered
from afresh.domain.said import Said, words_said
from afresh.domain.state import State
from afresh.domain.text import one_line
from afresh.projections.standing import commands, counted, iso

if TYPE_CHECKING:
    from rich.console import RenderableType

PATHS = 6


def inbox_json(waiting: Sequence[State]) -> list[dict[str, Any]]:
    return [_row(state) for state in waiting]


def _row(state: State) -> dict[str, Any]:
    return {
        "task": state.task.id,
        "goal": state.task.goal,
        "since": iso(state.updated),
        "by": state.asked_by,
        "step": state.step,
        "question": state.question,
        "options": options_json(state),
        "changed": list(state.changed),
        "kept": state.kept,
        "reverted": state.reverted,
        "tests": {"before": runs_json(state.baseline.runs if state.baseline else ())["words"],
                  "now": runs_json(state.verdict.runs if state.verdict else ())["words"]},
        "commands": [*commands(state), f"afresh discard {state.task.id}"],
    }  # fmt: skip


def options_json(state: State) -> list[dict[str, Any]]:
    return [{"number": one.number, "option": one.name, "means": one.means} for one in offered(state.options)]


def inbox(waiting: Sequence[State], now: float) -> "RenderableType":
    from rich.console import Group
    from rich.text import Text

    if not waiting:
        return Text.assemble("No task waits for an answer. ", ("afresh status", "cyan"), " shows where things stand.")
    asks = "1 question waits" if len(waiting) == 1 else f"{len(waiting):,} questions wait"
    first = Text(f"{asks} for your answer{', the oldest first' if len(waiting) > 1 else ''}.", style="dim")
    return Group(first, *(_question(state, now) for state in waiting))


def _question(state: State, now: float) -> "RenderableType":
    from rich.console import Group
    from rich.padding import Padding
    from rich.rule import Rule
    from rich.text import Text

    head = Text.assemble(
        (one_line(state.task.id, 40), "bold"),
        (f"  asked {ago(now - state.updated)} by the {state.asked_by or 'model'}, after step {state.step}", "dim"),
    )
    parts: list[RenderableType] = [Text(), said(state.question, "yellow")]
    if state.options:
        parts += [Text(), options(state)]
    parts += [Text(), fields(_about(state)), Text(), _ways(state)]
    return Group(Text(), Rule(head, align="left", style="dim"), Padding(Group(*parts), (0, 0, 0, 2)))


def options(state: State) -> "RenderableType":
    """Numbered, with what each would mean."""
    from rich.table import Table

    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="cyan", no_wrap=True)
    grid.add_column(style="bold", max_width=32, overflow="fold")
    grid.add_column(ratio=1, overflow="fold")
    for one in offered(state.options):
        grid.add_row(str(one.number), said(one.name), said(one.means))
    return grid


def _about(state: State) -> list[tuple[str, Any]]:
    row = _row(state)
    rows: list[tuple[str, Any]] = [("goal", said(state.task.goal, limit=200))]
    paths = ", ".join(state.changed[:PATHS]) + (f" and {len(state.changed) - PATHS:,} more" if len(state.changed) > PATHS else "")
    so_far = f"{counted(len(state.changed), 'file')} changed: {paths}" if paths else "no file is changed"
    rows.append(("so far", said(f"{so_far} ({state.kept:,} kept, {state.reverted:,} reverted in {counted(state.step, 'step')})")))
    if state.baseline and state.baseline.runs:
        rows.append(("tests", f"{row['tests']['before']} → {row['tests']['now']}"))
    return rows


def _ways(state: State) -> "RenderableType":
    """What to type: the numbers are only offered where there are some."""
    task = state.task.id
    rows: list[tuple[Any, str]] = []
    if state.options:
        rows.append((said(f"afresh answer {task} 1", "cyan"), "the number of an option"))
    rows.append((said(f'afresh answer {task} "…"', "cyan"), "or your own words" if rows else "your own words"))
    if state.commit:
        rows.append((said(f"afresh apply {task} --unverified", "cyan"), "take the result over as it is"))
    rows.append((said(f"afresh discard {task}", "cyan"), "drop the task"))
    table = listing("", "")
    table.show_header = False
    for way, what in rows:
        table.add_row(way, said(what, "dim"))
    return table


def ago(seconds: float) -> str:
    for size, name in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= size:
            return f"{counted(int(seconds // size), name)} ago"
    return "just now"


def answer_to(before: State, state: State) -> Said:
    """What was answered just now; whoever lets it go on at a pause has said nothing that a window would hold."""
    if len(state.words) > len(before.words):
        return words_said(state)[-1]
    return Said(before.options[0], before.question, before.options)


def answered_json(before: State, state: State) -> dict[str, Any]:
    newest = answer_to(before, state)
    return {
        "task": state.task.id,
        "status": state.status.value,
        "question": newest.question,
        "answer": newest.text,
        "next": list(commands(state)),
    }


def answered_words(before: State, state: State) -> str:
    """Tells the choice back, so that a wrong number is seen at once."""
    newest = answer_to(before, state)
    return f"answered: {one_line(newest.text, 300)}\n{state.task.id} is ready again: afresh resume {state.task.id}"
