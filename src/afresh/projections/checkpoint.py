"""A checkpoint: what is known of a task in short, and the index of what is archived. Enough to go on without the history."""

from collections.abc import Iterator

from afresh.domain.said import words_said
from afresh.domain.state import State
from afresh.domain.text import visible_json_lines
from afresh.projections.ceiling import ceiling_words
from afresh.projections.markdown import cell, code, inline, quote
from afresh.projections.standing import failed_approaches, iso, next_steps, tally

DECISIONS = 40
PATHS = 40


def render(state: State, reason: str) -> str:
    front = {"id": state.task.id, "step": state.step, "seq": state.head.seq, "at": iso(state.updated)}
    return f"---\n{visible_json_lines(front)}\n---\n" + "\n".join(_body(state, reason)) + "\n"


def _body(state: State, reason: str) -> Iterator[str]:
    yield f"# Checkpoint of {inline(state.task.id, 60)} after step {state.step}"
    yield from ("", f"Written because {inline(reason, 300)}. Ceiling: {ceiling_words(state)}.", "")
    yield from quote(state.task.goal)
    for word in words_said(state):
        asked = f"when asked “{inline(word.question, 300)}”" if word.question else "later"
        yield f"- said {asked}: {inline(word.text)}"
    yield from ("", "## Summary", "", *_summary(state))
    yield from ("", "## Archived outputs", "", *_index(state))


def _summary(state: State) -> Iterator[str]:
    runs = state.verdict.runs if state.verdict else state.baseline.runs if state.baseline else ()
    yield f"- checks: {tally(runs).words if runs else 'not run'}"
    if state.verdict:
        yield f"- verdict at step {state.verdict_step}: {state.verdict.ruling.value}: {inline(state.verdict.reason, 300)}"
    if state.changed:
        yield f"- changed: {', '.join(code(path, 200) for path in state.changed[:PATHS])}"
    yield from (f"- plan: [{'x' if item.done else ' '}] {inline(item.text)}" for item in state.plan)
    for made in [made for made in state.decisions if not made.answer][-DECISIONS:]:
        subject = f"{inline(made.subject, 120)}: " if made.subject else ""
        yield f"- decided ({inline(made.by, 40)}): {subject}{inline(made.text)}"
    yield from (f"- failed: {inline(fact.subject, 200)}: {inline(fact.text, 200)}" for fact in failed_approaches(state))
    yield from (f"- next: {inline(step)}" for step in next_steps(state))


def _index(state: State) -> Iterator[str]:
    if not state.index:
        yield "none"
        return
    yield from ("| block | step | kind | subject | characters | it says |", "|---|---|---|---|---|---|")
    for line in state.index:
        about = cell(inline(line.subject, 120)), f"{line.size:,}", cell(inline(line.phrase, 120))
        yield f"| {' | '.join((line.block[:12], str(line.step), cell(inline(line.kind, 40)), *about))} |"
