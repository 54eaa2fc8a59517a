"""Questions to a person: in the inbox, and between two steps of a run."""

from collections.abc import Sequence
from typing import Any

from afresh.cli.render.draw_diff import list_diff_lines
from afresh.core.action import Action, describe_subject
from afresh.core.answer_options import is_bare_choice, parse_options
from afresh.core.change import Change
from afresh.core.state import State
from afresh.core.task import TaskStatus, name_briefly
from afresh.core.text import format_count
from afresh.core.truncate import list_first, to_one_line
from afresh.core.verdict import sum_check_runs
from afresh.views.page import Block, Fields, Indented, Line, Page, Rule, Table
from afresh.views.task_facts import describe_age, describe_question, list_current_runs
from afresh.views.tasks import find_newest_answer, open_question_to_json

MAX_PATHS = 6
MAX_DIFF_LINES = 60
MAX_PLAN_ITEMS = 12
MAX_LINES_PER_SIDE = 8
MAX_COMMAND_CHARACTERS = 200
"""Maximum length of a command that is shown."""


def build_inbox(waiting: Sequence[State], now: float) -> Page:
    data = [*map(open_question_to_json, waiting)]
    if not waiting:
        return Page(data, [[("No open questions. ", ""), ("afresh status", "cyan"), (" shows all tasks.", "")]])
    first = f"{format_count(len(waiting), 'open question')}{', oldest first' if len(waiting) > 1 else ''}."
    return Page(data, [[(first, "dim")], *(block for state in waiting for block in _list_inbox_blocks(state, now))])


def _list_inbox_blocks(state: State, now: float) -> list[Block]:
    by, step = state.dialogue.asked_by or "model", state.work.step
    asked = f"  asked {describe_age(now - state.times.updated)} by the {by}, after step {step}"
    options = [_make_options(state), ""] if state.dialogue.options else []
    question = [(describe_question(state), "yellow")]
    body = ["", question, "", *options, Fields(_list_question_fields(state)), "", _make_answer_commands(state)]
    return ["", Rule([(to_one_line(state.task.id, 40), "bold"), (asked, "dim")]), Indented(body)]


def _make_options(state: State) -> Table:
    """Make a table of the numbered options with what each means."""
    options = parse_options(state.dialogue.options)
    return Table("||", [[[(f"{option.number}", "cyan")], [(option.name, "bold")], option.means] for option in options])


def _list_question_fields(state: State) -> list[tuple[str, Line]]:
    row, changed = open_question_to_json(state), state.workspace.changed
    paths = ", ".join(changed[:MAX_PATHS]) + (f" and {len(changed) - MAX_PATHS:,} more" if len(changed) > MAX_PATHS else "")
    so_far = f"{format_count(len(changed), 'file')} changed: {paths}" if paths else "no files changed"
    steps = format_count(state.work.step, "step")
    counts = f" ({state.workspace.kept:,} kept, {state.workspace.reverted:,} undone in {steps})"
    rows: list[tuple[str, Line]] = [("goal", to_one_line(state.task.goal, 200)), ("so far", so_far + counts)]
    if state.verification.baseline and state.verification.baseline.runs:
        rows.append(("tests", f"{row['tests']['before']} → {row['tests']['now']}"))
    return rows


def _make_answer_commands(state: State) -> Table:
    """Make a table of the commands to answer with; numbers only if there are options."""
    task, options = name_briefly(state.task.id), state.dialogue.options
    ways = {f"afresh answer {task} 1": "choose an option by number"} if options else {}
    ways[f'afresh answer {task} "…"'] = "or in your own words" if options else "in your own words"
    ways |= {f"afresh apply {task} --unverified": "apply the result as it is"} if state.workspace.commit else {}
    ways[f"afresh discard {task}"] = "delete its work"
    return Table("|", [[[(command, "cyan")], [(what, "dim")]] for command, what in ways.items()])


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


def list_step_status(state: State) -> list[Block]:
    """Say phase, changes, tests and cost in one line."""
    runs = list_current_runs(state)
    parts = [
        f"after step {state.work.step}" if state.work.step else "before the first step",
        f"phase {state.phase}",
        f"{format_count(len(state.workspace.changed), 'file')} changed",
        sum_check_runs(runs).words if runs else "no checks run",
        describe_usage(state),
    ]
    return [[(" · ".join(parts), "dim")]]


def describe_usage(state: State) -> str:
    return f"{format_count(state.spending.calls, 'call')}, {state.spending.usage.tokens:,} tokens"


def list_open_question(state: State) -> list[Block]:
    """List the question, its options and what is at stake; a pause's without its plan, which follows item by item."""
    options = [_make_options(state)] if len(state.dialogue.options) > 1 else []
    question = [(describe_question(state, plan=False), "yellow")]
    return ["", question, *options, Indented([Fields(_list_pause_fields(state))])]


def _list_pause_fields(state: State) -> list[tuple[str, Line]]:
    plan = [f"[{'x' if item.done else ' '}] {item.text}" for item in state.work.plan[:MAX_PLAN_ITEMS]]
    rows: list[tuple[str, Line]] = [("plan", "\n".join(plan))] if plan else []
    if state.work.pending:
        rows.append(("about to", describe_next_actions(state.work.pending.reply.actions)))
        if state.work.pending.reply.thought:
            rows.append(("because", to_one_line(state.work.pending.reply.thought, 300)))
    rows.append(("changed", ", ".join(state.workspace.changed) or "nothing yet"))
    return [*rows, ("spent", describe_usage(state))]


def describe_next_actions(actions: Sequence[Action]) -> Line:
    """Describe the next actions; of a change all lines, because they need approval."""
    lines = list[tuple[str, str]]()
    for action in actions:
        lines.append((_describe_action(action), ""))
        for sign, name, style in (("-", "old", "red"), ("+", "new", "green"), ("+", "content", "green")):
            lines += [(line, style) for line in _sign_lines(sign, action.args.get(name))]
    return [(f"\n{text}" if place else text, style) for place, (text, style) in enumerate(lines)]


def _describe_action(action: Action) -> str:
    """Describe an action: a command in full, anything else by its target."""
    return to_one_line(f"{action.tool} {action.args.get('command') or describe_subject(action)}".strip(), MAX_COMMAND_CHARACTERS)


def _sign_lines(sign: str, text: Any) -> list[str]:
    lines = text.splitlines() if isinstance(text, str) else []
    most = MAX_LINES_PER_SIDE if len(lines) > MAX_LINES_PER_SIDE + 1 else len(lines)
    return list_first([f"{sign} {line}" for line in lines], most, f"{sign} … {{0}} more lines")


def list_input_help(state: State) -> list[Block]:
    """Say what can be typed now."""
    help = (
        "Enter: next step · N: run N steps · text: message to the agent · /new TEXT: change direction\n"
        "/undo [STEPS] [WHY]: undo the last change · /diff · /help · /stop: pause the task"
    )
    return [[(_describe_answers(state) if state.dialogue.question else help, "dim")]]


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


def list_changes(changes: Sequence[Change]) -> list[Block]:
    lines, left = list_diff_lines((change.patch for change in changes), MAX_DIFF_LINES)
    return [*lines, *([[(f"… {left:,} more lines", "dim")]] if left else [])] if lines else [[("no changes", "dim")]]
