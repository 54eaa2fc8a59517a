"""What someone beside the work is shown between two steps."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from afresh.cli.render.inbox import render_options
from afresh.cli.render.widgets import render_diff, render_fields, render_text
from afresh.core.action import Action, describe_subject
from afresh.core.change import Change
from afresh.core.state import State
from afresh.core.truncate import to_one_line
from afresh.views.task_status import describe_question, format_count, list_current_runs, sum_check_runs

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text


MAX_DIFF_LINES = 60
MAX_PLAN_ITEMS = 12
MAX_LINES_PER_SIDE = 8
MAX_COMMAND_CHARACTERS = 200
"""Lines of a diff, items of a plan, lines of each side of a change that waits, characters of a command."""


def render_step_status(state: State) -> "Text":
    """One line: where it is, what is changed, how the tests stand, what it has cost so far."""
    runs = list_current_runs(state)
    parts = [
        f"after step {state.work.step}" if state.work.step else "before the first step",
        f"phase {state.phase}",
        f"{format_count(len(state.workspace.changed), 'file')} changed",
        sum_check_runs(runs).words if runs else "no checks run",
        describe_usage(state),
    ]
    thought = to_one_line(state.memory.recent[-1].thought, 200) if state.memory.recent else ""
    return render_text((f"      {thought}\n" if thought else "") + " · ".join(parts), "dim")


def describe_usage(state: State) -> str:
    return f"{format_count(state.spending.calls, 'call')}, {state.spending.usage.tokens:,} tokens"


def render_open_question(state: State) -> "RenderableType":
    """The question of a pause is shown without its plan, which follows item by item."""
    from rich.console import Group
    from rich.padding import Padding
    from rich.text import Text

    parts: list[RenderableType] = [Text(), render_text(describe_question(state, plan=False), "yellow")]
    if len(state.dialogue.options) > 1:
        parts.append(render_options(state))
    return Group(*parts, Padding(render_fields(_list_question_fields(state)), (0, 0, 0, 2)))


def _list_question_fields(state: State) -> list[tuple[str, Any]]:
    plan = [f"[{'x' if item.done else ' '}] {item.text}" for item in state.work.plan[:MAX_PLAN_ITEMS]]
    rows: list[tuple[str, Any]] = [("plan", render_text("\n".join(plan)))] if plan else []
    if state.work.pending:
        rows.append(("about to", render_next_actions(state.work.pending.reply.actions)))
        if state.work.pending.reply.thought:
            rows.append(("because", render_text(to_one_line(state.work.pending.reply.thought, 300))))
    rows.append(("changed", render_text(", ".join(state.workspace.changed) or "nothing yet")))
    return [*rows, ("spent", render_text(describe_usage(state)))]


def render_next_actions(actions: Sequence[Action]) -> "Text":
    """What would be done: of a change its lines, since that is what is to be agreed to."""
    from rich.text import Text

    lines = list[Text]()
    for action in actions:
        lines.append(render_text(_describe_action(action)))
        for sign, name, style in (("-", "old", "red"), ("+", "new", "green"), ("+", "content", "green")):
            lines += [render_text(line, style) for line in _sign_lines(sign, action.args.get(name))]
    return Text("\n").join(lines)


def _describe_action(action: Action) -> str:
    """Of a command all of it, of anything else what it is about."""
    return to_one_line(f"{action.tool} {action.args.get('command') or describe_subject(action)}".strip(), MAX_COMMAND_CHARACTERS)


def _sign_lines(sign: str, text: Any) -> list[str]:
    lines = text.splitlines() if isinstance(text, str) else []
    more = (
        [f"{sign} … {format_count(len(lines) - MAX_LINES_PER_SIDE, 'more line')}"] if len(lines) > MAX_LINES_PER_SIDE + 1 else []
    )
    return [f"{sign} {line}" for line in (lines[:MAX_LINES_PER_SIDE] if more else lines)] + more


def render_input_help(state: State) -> "Text":
    """What can be typed now."""
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


def render_changes(changes: Sequence[Change]) -> "Text":
    shown, left = render_diff(changes, MAX_DIFF_LINES)
    if not shown:
        return render_text("no changes", "dim")
    return shown.append(f"\n… {left:,} more lines", "dim") if left else shown
