"""Files for whoever continues: the state of the project in under 2,000 tokens, and the checkpoint of a task."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from afresh.core import event as happened
from afresh.core.answer_options import list_user_statements
from afresh.core.event import JournalEntry
from afresh.core.fact import FactKind
from afresh.core.state import State
from afresh.core.states.queue_state import QUEUE_EVENTS
from afresh.core.states.supervision_state import StepsUndone
from afresh.core.text import to_visible_json, to_visible_json_lines
from afresh.core.verdict import sum_check_runs
from afresh.memory.user_corrections import apply_corrections
from afresh.views.bounded_json import list_within_tokens, render_json_document, truncate_lines_to_tokens, truncate_to_tokens
from afresh.views.file_io import file_name_from_task
from afresh.views.markdown import escape_cell, escape_inline, format_code, quote_lines
from afresh.views.project_memory_file import NO_RULES_OR_CORRECTIONS, RulesAndCorrections
from afresh.views.task_facts import (
    describe_limits,
    describe_tests,
    format_time,
    list_current_failures,
    list_current_runs,
    list_failed_approaches,
    list_next_commands,
    list_next_steps,
)
from afresh.views.task_list import MAX_TASK_ROWS, QueueHead

NAME_TOKENS = 22
LINE_TOKENS = 30
"""Tokens of one line in a list."""


def summarise_for_handover(state: State, rules: Sequence[str] = ()) -> dict[str, Any]:
    """Summarise a task for the next person or agent, without empty parts. `rules` are the project's."""
    return {name: value for name, value in _list_fields(state, rules) if value}


def _list_fields(state: State, rules: Sequence[str]) -> Iterator[tuple[str, Any]]:
    yield "task", truncate_to_tokens(state.task.id, NAME_TOKENS)
    yield "goal", truncate_lines_to_tokens(state.task.goal, 60)
    yield from _last_instruction(state)
    yield "status", f"{state.status.value}, phase {state.phase}, step {state.work.step} of at most {state.work.limit}"
    yield "session", f"{truncate_to_tokens(state.task.id, NAME_TOKENS)}#{state.times.claims}" if state.times.claims else ""
    share = state.tokens.last_call.window_share
    yield "of the model's window, %", None if share is None else round(100 * share, 1)
    yield "progress", measure_progress(state)
    yield "last checkpoint", _describe_last_checkpoint(state)
    yield "branch", truncate_to_tokens(state.workspace.branch, NAME_TOKENS)
    yield (
        "worktree",
        "`git worktree list` shows where" if state.workspace.branch and not state.workspace.commit else "",
    )
    yield "base", state.workspace.base[:12]
    yield "commit", state.workspace.commit[:12]
    yield "changed", list_within_tokens(state.workspace.changed, 80, 20)
    yield "tests", truncate_to_tokens(describe_tests(state), 40)
    yield (
        "failing",
        list_within_tokens(
            (": ".join(filter(None, (failure.test, failure.message))) for failure in list_current_failures(state)),
            76,
            LINE_TOKENS,
        ),
    )
    yield "last outcome", truncate_to_tokens(state.work.outcome, LINE_TOKENS)
    yield "question", truncate_to_tokens(state.dialogue.question, 70)
    yield "pending", list_within_tokens((item.text for item in state.work.plan if not item.done), 76, LINE_TOKENS)
    yield "constraints", _list_constraints(state, rules)
    yield (
        "failed, not to be tried again",
        list_within_tokens((approach.subject for approach in reversed(list_failed_approaches(state))), 76, LINE_TOKENS),
    )
    yield "next", [truncate_to_tokens(step, LINE_TOKENS) for step in list_next_steps(state)[:2]]
    yield "command", list_next_commands(state)[0] if len(state.task.id) < 60 else ""
    yield "updated", format_time(state.times.updated)


def measure_progress(state: State) -> dict[str, int]:
    """Progress in numbers: steps, and items of the plan if there is one."""
    work, plan = state.work, state.work.plan
    done = {"plan items": len(plan), "done": sum(item.done for item in plan)} if plan else {}
    return {"steps": work.step, "of": work.limit, "percent": 100 * work.step // work.limit if work.limit else 0, **done}


def _describe_last_checkpoint(state: State) -> str:
    step, folder = state.times.checkpoint_step, file_name_from_task(state.task.id)
    path = truncate_to_tokens(f"checkpoints/{folder}", NAME_TOKENS)
    return f"{path}/{name_checkpoint_file(step)}, after step {step}" if state.times.checkpoints else ""


def _last_instruction(state: State) -> Iterator[tuple[str, str]]:
    """Return the user's newest message, with the question that it answers."""
    for statement in list_user_statements(state)[-1:]:
        yield "last instruction", truncate_lines_to_tokens(statement.text, 110)
        yield "said when asked", truncate_to_tokens(statement.question, 30)


def _list_constraints(state: State, project: Sequence[str]) -> list[str]:
    """Return the rules in force, newest first, then the completion criteria."""
    own = [fact.text for fact in reversed(state.memory.facts) if fact.kind is FactKind.RULE and fact.text]
    rules = list_within_tokens((*own, *project), 114, 55)
    checks = "; ".join(check.command for check in state.task.checks)
    report = f"writes {state.task.report} and nothing else" if state.task.report else ""
    said = (
        *rules,
        truncate_to_tokens(f"finished when these exit 0: {checks}", 44) if checks else "",
        truncate_to_tokens(report, LINE_TOKENS),
    )
    return [*(line for line in said if line), state.limits.words]


ALL_ROWS_TOKENS = 420
"""Tokens of all task rows together."""
_ROW_OVERHEAD_TOKENS = 36 + NAME_TOKENS
"""Tokens of a row without goal and next step."""
_TURN_EVENTS = (
    happened.TaskCreated, happened.TaskClaimed, happened.QuestionAnswered, happened.TaskEnded, StepsUndone, *QUEUE_EVENTS
)  # fmt: skip
"""Events that may change the order of the tasks."""
_MEMORY_FILES = {
    "afresh.db": "the journal: the truth, all else is made from it",
    "sessions/<task>.md": "where a task stands; sessions/archive when it is over",
    "decisions/<task>.jsonl": "who decided what, and why",
    "context/<task>.json": "what the last call held, left out, and what is archived",
    "checkpoints/<task>/": "all that is known, every 15 minutes and at 60 % of steps or context",
    "tasks/<task>.json": "its state in short",
    "project_memory.json": "what finished tasks have left behind",
    "../knowledge": "what tasks have learnt, to be approved or used",
}
"""Paths relative to this file."""
_RESUME_COMMANDS = {
    "afresh status": "all tasks, their questions and next commands",
    "afresh resume TASK": "go on after the last finished step; --from STEP: from a checkpoint",
    'afresh answer TASK "…"': "answer an open question",
    "afresh work --until-empty": "take the ready tasks one after the other",
    "without afresh": "work in the worktree, or check out the branch once it has a commit; run the checks",
}


def render_continuity(head: QueueHead, load: Callable[[str], State], rules: RulesAndCorrections = NO_RULES_OR_CORRECTIONS) -> str:
    """Render the file; loads only the tasks it names. If no task is active, shows the last one that waits for a person."""
    waits = {
        ticket.task: truncate_to_tokens(", ".join(need.task for need in ticket.unmet), 8)
        for ticket in head.active
        if ticket.unmet
    }
    states = [apply_corrections(load(ticket.task), rules.edits) for ticket in head.active]
    rows = [_render_row(state, waits.get(state.task.id, ""), len(states)) for state in states]
    unseen = head.unseen
    first = states[0] if states else apply_corrections(load(unseen[0].task), rules.edits) if unseen else None
    named = (f"{truncate_to_tokens(ticket.task, NAME_TOKENS)} ({ticket.status})" for ticket in unseen)
    review = list_within_tokens(named, 66, NAME_TOKENS + 4, head.unseen_count)
    return _render_document(_summarise_first_task(first, rules) if first else None, head.active_count, rows, review)


def update_continuity(
    text: str,
    state: State,
    entries: Sequence[JournalEntry],
    tell: Callable[[], RulesAndCorrections] = lambda: NO_RULES_OR_CORRECTIONS,
) -> str | None:
    """Update the file after a commit of one task. Returns None if more than that task's row may change."""
    if state.task.parent and text:
        return text
    if state.status.over or not entries or any(isinstance(entry.event, _TURN_EVENTS) for entry in entries):
        return None
    try:
        rows: list[dict[str, Any]] = json.loads(text)["tasks"]
        places = [place for place, row in enumerate(rows) if row["task"] == state.task.id]
        if not places:
            return (
                text if len(rows) == MAX_TASK_ROWS and truncate_to_tokens(state.task.id, NAME_TOKENS) == state.task.id else None
            )
        rules = tell()
        state = apply_corrections(state, rules.edits)
        row = to_visible_json(_render_row(state, rows[places[0]].get("waits for", ""), len(rows)))
        return _replace_row(text.split("\n"), places[0], row, _summarise_first_task(state, rules) if places[0] == 0 else None)
    except (ValueError, KeyError, TypeError, AttributeError, StopIteration):
        return None


def count_new_task(text: str, state: State, entries: Sequence[JournalEntry], head: QueueHead) -> str | None:
    """Update the file after a task was added that it does not name: only a number changes. None if more may change."""
    added = any(isinstance(entry.event, happened.TaskCreated) for entry in entries) and not state.status.over
    try:
        named = [row["task"] for row in json.loads(text)["tasks"]]
    except (ValueError, KeyError, TypeError):
        return None
    expected = [truncate_to_tokens(ticket.task, NAME_TOKENS) for ticket in head.active]
    if not added or len(named) < MAX_TASK_ROWS or named != expected or state.task.id in [ticket.task for ticket in head.active]:
        return None
    return "\n".join([f'"active": {head.active_count},' if line[:9] == '"active":' else line for line in text.split("\n")])


def _replace_row(lines: list[str], place: int, row: str, first: Mapping[str, Any] | None) -> str:
    """Replace one row and render only what differs; this runs at every step."""
    row_at = lines.index('"tasks": [') + 1 + place
    lines[row_at] = row + ("," if lines[row_at].endswith(",") else "")
    if first:
        end = next(i for i, line in enumerate(lines) if line.startswith('"active":'))
        lines[1:end] = [f'"pick_up": {to_visible_json_lines(first)},']
    return "\n".join(lines)


def _summarise_first_task(state: State, rules: RulesAndCorrections) -> dict[str, Any]:
    return summarise_for_handover(state, [rule.fact.text for rule in rules.rules])


def _render_row(state: State, waits: str, rows: int) -> dict[str, Any]:
    room = max(6, min(50, (ALL_ROWS_TOKENS // rows - _ROW_OVERHEAD_TOKENS) // 2))
    row: dict[str, Any] = {
        "task": truncate_to_tokens(state.task.id, NAME_TOKENS),
        "status": state.status.value,
        "progress": f"{state.phase}, step {state.work.step}/{state.work.limit}",
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


def describe_checkpoint(state: State) -> dict[str, Any]:
    """What the checks said by then, and whether there is a tree to go back to."""
    verdict = state.verification.verdict
    return {"verdict": verdict.ruling.value if verdict else "none", "recoverable": bool(state.workspace.snapshot)}


def name_checkpoint_file(step: int) -> str:
    """The name sorts as the number does."""
    return f"{step:06}.md"


MAX_CHECKPOINT_FILES = 12
"""The newest of a task; the journal knows the others."""
MAX_CHECKPOINT_DECISIONS = 40
MAX_CHECKPOINT_PATHS = 40


def render_checkpoint(state: State, reason: str) -> str:
    front = {"id": state.task.id, "step": state.work.step, "seq": state.head.seq, "at": format_time(state.times.updated)}
    front |= describe_checkpoint(state)
    return f"---\n{to_visible_json_lines(front)}\n---\n" + "\n".join(_render_body(state, reason)) + "\n"


def _render_body(state: State, reason: str) -> Iterator[str]:
    yield f"# Checkpoint of {escape_inline(state.task.id, 60)} after step {state.work.step}"
    yield from ("", f"Written because {escape_inline(reason, 300)}. Limit: {describe_limits(state)}.", "")
    if state.workspace.snapshot:
        task = escape_inline(state.task.id, 60)
        yield from (f"`afresh resume {task} --from {state.work.step}` goes back to it: tree, plan and memory as of here.", "")
    yield from quote_lines(state.task.goal)
    for word in list_user_statements(state):
        asked = f"when asked “{escape_inline(word.question, 300)}”" if word.question else "later"
        yield f"- said {asked}: {escape_inline(word.text)}"
    yield from ("", "## Summary", "", *_render_summary(state))
    yield from ("", "## Archived outputs", "", *_render_block_index(state))


def _render_summary(state: State) -> Iterator[str]:
    runs = list_current_runs(state)
    yield f"- checks: {sum_check_runs(runs).words if runs else 'not run'}"
    if state.verification.verdict:
        yield (
            f"- verdict at step {state.verification.verdict_step}: {state.verification.verdict.ruling.value}: "
            f"{escape_inline(state.verification.verdict.reason, 300)}"
        )
    if state.workspace.changed:
        yield f"- changed: {', '.join(format_code(path, 200) for path in state.workspace.changed[:MAX_CHECKPOINT_PATHS])}"
    yield from (f"- plan: [{'x' if item.done else ' '}] {escape_inline(item.text)}" for item in state.work.plan)
    for decision in [made for made in state.memory.decisions if not made.answer][-MAX_CHECKPOINT_DECISIONS:]:
        subject = f"{escape_inline(decision.subject, 120)}: " if decision.subject else ""
        yield f"- decided ({escape_inline(decision.by, 40)}): {subject}{escape_inline(decision.text)}"
    yield from (
        f"- failed: {escape_inline(fact.subject, 200)}: {escape_inline(fact.text, 200)}" for fact in list_failed_approaches(state)
    )
    yield from (f"- next: {escape_inline(step)}" for step in list_next_steps(state))


def _render_block_index(state: State) -> Iterator[str]:
    if not state.memory.index:
        yield "none"
        return
    yield from ("| block | step | kind | subject | characters | it says |", "|---|---|---|---|---|---|")
    for line in state.memory.index:
        about = escape_cell(escape_inline(line.subject, 120)), f"{line.size:,}", escape_cell(escape_inline(line.phrase, 120))
        yield f"| {' | '.join((line.block[:12], str(line.step), escape_cell(escape_inline(line.kind, 40)), *about))} |"
