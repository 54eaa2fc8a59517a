"""A checkpoint: what is known of a task in short, and the index of what is archived. Enough to go on without the history."""

from collections.abc import Iterator

from afresh.core.question import list_user_statements
from afresh.core.state import State
from afresh.core.text import to_visible_json_lines
from afresh.views.markdown import escape_cell, escape_inline, format_code, quote_lines
from afresh.views.task_status import describe_ceiling, format_time, list_failed_approaches, list_next_steps, sum_check_runs

MAX_CHECKPOINT_DECISIONS = 40
MAX_CHECKPOINT_PATHS = 40


def render_checkpoint(state: State, reason: str) -> str:
    front = {"id": state.task.id, "step": state.work.step, "seq": state.head.seq, "at": format_time(state.times.updated)}
    return f"---\n{to_visible_json_lines(front)}\n---\n" + "\n".join(_render_body(state, reason)) + "\n"


def _render_body(state: State, reason: str) -> Iterator[str]:
    yield f"# Checkpoint of {escape_inline(state.task.id, 60)} after step {state.work.step}"
    yield from ("", f"Written because {escape_inline(reason, 300)}. Ceiling: {describe_ceiling(state)}.", "")
    yield from quote_lines(state.task.goal)
    for word in list_user_statements(state):
        asked = f"when asked “{escape_inline(word.question, 300)}”" if word.question else "later"
        yield f"- said {asked}: {escape_inline(word.text)}"
    yield from ("", "## Summary", "", *_render_summary(state))
    yield from ("", "## Archived outputs", "", *_render_block_index(state))


def _render_summary(state: State) -> Iterator[str]:
    runs = (
        state.verification.verdict.runs
        if state.verification.verdict
        else state.verification.baseline.runs
        if state.verification.baseline
        else ()
    )
    yield f"- checks: {sum_check_runs(runs).words if runs else 'not run'}"
    if state.verification.verdict:
        yield (
            f"- verdict at step {state.verification.verdict_step}: {state.verification.verdict.ruling.value}: "
            f"{escape_inline(state.verification.verdict.reason, 300)}"
        )
    if state.workspace.changed:
        yield f"- changed: {', '.join(format_code(path, 200) for path in state.workspace.changed[:MAX_CHECKPOINT_PATHS])}"
    yield from (f"- plan: [{'x' if item.done else ' '}] {escape_inline(item.text)}" for item in state.work.plan)
    for made in [made for made in state.memory.decisions if not made.answer][-MAX_CHECKPOINT_DECISIONS:]:
        subject = f"{escape_inline(made.subject, 120)}: " if made.subject else ""
        yield f"- decided ({escape_inline(made.by, 40)}): {subject}{escape_inline(made.text)}"
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
