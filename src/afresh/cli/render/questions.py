"""Renders questions to a person: in the inbox, and between two steps of a run."""

from collections.abc import Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from afresh.cli.render.parts import make_table, render_diff, render_fields, render_text
from afresh.core.action import Action, describe_subject
from afresh.core.answer_options import is_bare_choice, parse_options
from afresh.core.change import Change
from afresh.core.state import State
from afresh.core.task import TaskStatus, name_briefly
from afresh.core.text import format_count
from afresh.core.truncate import to_one_line
from afresh.core.verdict import sum_check_runs
from afresh.views.task_facts import describe_age, describe_question, list_current_runs
from afresh.views.tasks import find_newest_answer, open_question_to_json

MAX_PATHS = 6


def render_inbox(waiting: Sequence[State], now: float) -> RenderableType:
    if not waiting:
        return Text.assemble("No open questions. ", ("afresh status", "cyan"), " shows all tasks.")
    asks = "1 open question" if len(waiting) == 1 else f"{len(waiting):,} open questions"
    first = Text(f"{asks}{', oldest first' if len(waiting) > 1 else ''}.", style="dim")
    return Group(first, *(_render_inbox_question(state, now) for state in waiting))


def _render_inbox_question(state: State, now: float) -> RenderableType:
    head = Text.assemble(
        (to_one_line(state.task.id, 40), "bold"),
        (
            f"  asked {describe_age(now - state.times.updated)} by the {state.dialogue.asked_by or 'model'}, "
            f"after step {state.work.step}",
            "dim",
        ),
    )
    parts: list[RenderableType] = [Text(), render_text(describe_question(state), "yellow")]
    if state.dialogue.options:
        parts += [Text(), render_options(state)]
    parts += [Text(), render_fields(_list_question_fields(state)), Text(), _render_answer_commands(state)]
    return Group(Text(), Rule(head, align="left", style="dim"), Padding(Group(*parts), (0, 0, 0, 2)))


def render_options(state: State) -> RenderableType:
    """Render numbered options with what each means."""
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
                f"{so_far} ({state.workspace.kept:,} kept, {state.workspace.reverted:,} undone "
                f"in {format_count(state.work.step, 'step')})"
            ),
        )
    )
    if state.verification.baseline and state.verification.baseline.runs:
        rows.append(("tests", f"{row['tests']['before']} → {row['tests']['now']}"))
    return rows


def _render_answer_commands(state: State) -> RenderableType:
    """Render the commands to answer with; numbers only if there are options."""
    task = name_briefly(state.task.id)
    rows: list[tuple[Any, str]] = []
    if state.dialogue.options:
        rows.append((render_text(f"afresh answer {task} 1", "cyan"), "choose an option by number"))
    rows.append((render_text(f'afresh answer {task} "…"', "cyan"), "or in your own words" if rows else "in your own words"))
    if state.workspace.commit:
        rows.append((render_text(f"afresh apply {task} --unverified", "cyan"), "apply the result as it is"))
    rows.append((render_text(f"afresh discard {task}", "cyan"), "delete its work"))
    table = make_table("|")
    table.show_header = False
    for way, what in rows:
        table.add_row(way, render_text(what, "dim"))
    return table


def describe_answer(before: State, state: State) -> str:
    """Repeat the chosen option, so that a wrong number is noticed."""
    newest, task = find_newest_answer(before, state), state.task.id
    bare = is_bare_choice(newest.text) and not before.dialogue.options
    words = " (as your own words: the question has no options)" if bare else ""
    if state.status is TaskStatus.DONE:
        ends = f"{task} is done, with the work as it is: afresh apply {name_briefly(task)}"
    else:
        ends = f"{task} is ready to continue: afresh resume {name_briefly(task)}"
    return f"answered: {to_one_line(newest.text, 300)}{words}\n{ends}"


MAX_DIFF_LINES = 60
MAX_PLAN_ITEMS = 12
MAX_LINES_PER_SIDE = 8
MAX_COMMAND_CHARACTERS = 200
"""Maximum length of a command that is shown."""


def render_step_status(state: State) -> Text:
    """Render phase, changes, tests and cost in one line."""
    runs = list_current_runs(state)
    parts = [
        f"after step {state.work.step}" if state.work.step else "before the first step",
        f"phase {state.phase}",
        f"{format_count(len(state.workspace.changed), 'file')} changed",
        sum_check_runs(runs).words if runs else "no checks run",
        describe_usage(state),
    ]
    return render_text(" · ".join(parts), "dim")


def describe_usage(state: State) -> str:
    return f"{format_count(state.spending.calls, 'call')}, {state.spending.usage.tokens:,} tokens"


def render_open_question(state: State) -> RenderableType:
    """Render the question; a pause's without its plan, which follows item by item."""
    parts: list[RenderableType] = [Text(), render_text(describe_question(state, plan=False), "yellow")]
    if len(state.dialogue.options) > 1:
        parts.append(render_options(state))
    return Group(*parts, Padding(render_fields(_list_pause_fields(state)), (0, 0, 0, 2)))


def _list_pause_fields(state: State) -> list[tuple[str, Any]]:
    plan = [f"[{'x' if item.done else ' '}] {item.text}" for item in state.work.plan[:MAX_PLAN_ITEMS]]
    rows: list[tuple[str, Any]] = [("plan", render_text("\n".join(plan)))] if plan else []
    if state.work.pending:
        rows.append(("about to", render_next_actions(state.work.pending.reply.actions)))
        if state.work.pending.reply.thought:
            rows.append(("because", render_text(to_one_line(state.work.pending.reply.thought, 300))))
    rows.append(("changed", render_text(", ".join(state.workspace.changed) or "nothing yet")))
    return [*rows, ("spent", render_text(describe_usage(state)))]


def render_next_actions(actions: Sequence[Action]) -> Text:
    """Render the next actions; of a change all lines, because they need approval."""
    lines = list[Text]()
    for action in actions:
        lines.append(render_text(_describe_action(action)))
        for sign, name, style in (("-", "old", "red"), ("+", "new", "green"), ("+", "content", "green")):
            lines += [render_text(line, style) for line in _sign_lines(sign, action.args.get(name))]
    return Text("\n").join(lines)


def _describe_action(action: Action) -> str:
    """Describe an action: a command in full, anything else by its target."""
    return to_one_line(f"{action.tool} {action.args.get('command') or describe_subject(action)}".strip(), MAX_COMMAND_CHARACTERS)


def _sign_lines(sign: str, text: Any) -> list[str]:
    lines = text.splitlines() if isinstance(text, str) else []
    more = (
        [f"{sign} … {format_count(len(lines) - MAX_LINES_PER_SIDE, 'more line')}"] if len(lines) > MAX_LINES_PER_SIDE + 1 else []
    )
    return [f"{sign} {line}" for line in (lines[:MAX_LINES_PER_SIDE] if more else lines)] + more


def render_input_help(state: State) -> Text:
    """Render what can be typed now."""
    if state.dialogue.question:
        return render_text(_describe_answers(state), "dim")
    return render_text(
        "Enter: next step · N: run N steps · text: message to the agent · /new TEXT: change direction\n"
        "/undo [STEPS] [WHY]: undo the last change · /diff · /help · /stop: pause the task",
        "dim",
    )


def _describe_answers(state: State) -> str:
    enter = (
        "Enter: approve · "
        if state.dialogue.supervision.paused
        else "Enter: continue · "
        if state.dialogue.asked_by == "harness"
        else ""
    )
    number = "N: choose option N · " if len(state.dialogue.options) > 1 else ""
    words = "text: reject this and tell the agent why" if state.work.pending else "text: message to the agent"
    return f"{enter}{number}{words} · /new TEXT: change direction\n/undo [STEPS] [WHY] · /diff · /help · /stop: pause the task"


def render_changes(changes: Sequence[Change]) -> Text:
    shown, left = render_diff(changes, MAX_DIFF_LINES)
    if not shown:
        return render_text("no changes", "dim")
    return shown.append(f"\n… {left:,} more lines", "dim") if left else shown
