"""The session file: the state of a task for someone who has never seen it. A function of the state only."""

from collections.abc import Iterator
from functools import lru_cache

from afresh.core.action import describe_subject
from afresh.core.answer_options import list_user_statements, parse_options
from afresh.core.decision import Decision
from afresh.core.fact import Fact, FactKind, is_sure_observation
from afresh.core.state import State
from afresh.core.step_record import StepRecord
from afresh.core.subtask import SubtaskResult
from afresh.core.text import format_count, to_visible_json_lines
from afresh.core.truncate import to_one_line
from afresh.core.verdict import CheckRun
from afresh.views.markdown import escape_cell, escape_inline, format_code, quote_lines, split_into_parts
from afresh.views.step_line import make_step_line
from afresh.views.task_facts import (
    describe_calibration,
    describe_check_run,
    describe_largest_call,
    describe_limits,
    describe_parts,
    describe_progress,
    format_time,
    list_evidence_lines,
    list_failed_approaches,
    list_next_commands,
    list_next_steps,
)

MAX_SESSION_DECISIONS = 40
MAX_SESSION_PATHS = 100
MAX_DIGEST_LINES = 12


def render_session(state: State) -> tuple[str, ...]:
    """Render the file, or its parts if it is too long for one."""
    body = list(_render_body(state))
    return split_into_parts(body, lambda part, parts: _render_front_matter(state, part, parts))


def _render_front_matter(state: State, part: int, parts: int) -> str:
    fields: dict[str, object] = {"id": state.task.id, "part": part, "parts": parts}
    if part == 1:
        fields |= {
            "task": to_one_line(state.task.goal, 200),
            "type": to_one_line(state.task.type, 60),
            "status": state.status.value,
            "phase": state.phase,
            "step": state.work.step,
            "max_steps": state.work.limit,
            "outcome": to_one_line(state.work.outcome, 300),
            "verdict": state.verification.verdict.ruling.value if state.verification.verdict else None,
            "next": list(list_next_steps(state)),
            "progress": list(describe_progress(state)),
            "branch": to_one_line(state.workspace.branch, 100),
            **({"part_of": state.task.parent} if state.task.parent else {}),
            "started": format_time(state.times.started),
            "updated": format_time(state.times.updated),
            "seq": state.head.seq,
        }
    return f"---\n{to_visible_json_lines(fields)}\n---\n"


def _render_body(state: State) -> Iterator[str]:
    yield f"# {escape_inline(state.task.goal, 100)}"
    yield ""
    yield _render_headline(state)
    yield from _render_section("Goal, in the user's words", _render_goal(state))
    yield from _render_section("Open question", _render_question(state))
    yield from _render_section("Criteria", _render_criteria(state))
    yield from _render_section("Changed so far", _render_changes(state))
    yield from _render_section("Next steps", [f"- {escape_inline(step)}" for step in list_next_steps(state)])
    yield from _render_section(
        "Plan", [f"- [{'x' if item.done else ' '}] {escape_inline(item.text)}" for item in state.work.plan]
    )
    yield from _render_section("Handed out", [line for subtask in state.work.subtasks for line in _render_part(subtask)])
    yield from _render_section("Decisions", _render_decisions(state))
    yield from _render_section("Failed: not to be tried again", _render_facts(list_failed_approaches(state)))
    yield from _render_section("Errors seen", _render_facts(tuple(filter(is_sure_observation, state.memory.facts))))
    yield from _render_section(
        "Known", _render_facts((*_facts_of_kind(state, FactKind.CHECK), *_facts_of_kind(state, FactKind.NOTE)))
    )
    yield from _render_section(
        f"Last steps ({state.work.step} in all)", [line for record in state.memory.recent for line in _render_step(record)]
    )
    yield from _render_section("Spent", _render_spending(state))
    yield from _render_section("Commands", [f"- `{command}`" for command in list_next_commands(state)])


def _render_section(title: str, lines: list[str]) -> Iterator[str]:
    if lines:
        yield from ("", f"## {title}", "", *lines)


def _render_headline(state: State) -> str:
    text = f"**{state.status.value}**, phase {state.phase}, step {state.work.step} of at most {state.work.limit}"
    if state.verification.verdict:
        verdict = state.verification.verdict
        text += (
            f"; verdict {verdict.ruling.value} at step {state.verification.verdict_step}: {escape_inline(verdict.reason, 300)}"
        )
    return f"{text}. Last outcome: {escape_inline(state.work.outcome, 300) or 'none yet'}"


def _render_goal(state: State) -> list[str]:
    lines = quote_lines(state.task.goal)
    for word in list_user_statements(state):
        asked = f"said when asked “{escape_inline(word.asked)}”:" if word.question else "said later:"
        lines += ["", asked, "", *quote_lines(word.text)]
    return lines


def _render_question(state: State) -> list[str]:
    """Render the question, its options and how to answer."""
    if not state.dialogue.question:
        return []
    options = [f"{option.number}. {escape_inline(option.words)}" for option in parse_options(state.dialogue.options)]
    if state.task.parent:
        return [
            *quote_lines(state.dialogue.question),
            *(["", *options] if options else []),
            "",
            f"Given back to {format_code(state.task.parent)}.",
        ]
    how = "the number of an option, or your own words" if options else "your own words"
    asked = (
        f"Asked by the {escape_inline(state.dialogue.asked_by, 40) or 'model'}, {format_time(state.times.updated)}. "
        f"Answer with {how}:"
    )
    return [
        *quote_lines(state.dialogue.question),
        *(["", *options] if options else []),
        "",
        f"{asked} {format_code(list_next_commands(state)[0])}",
    ]


def _render_criteria(state: State) -> list[str]:
    before = {run.command: run for run in state.verification.baseline.runs} if state.verification.baseline else {}
    now = {run.command: run for run in state.verification.verdict.runs} if state.verification.verdict else {}
    asked = dict.fromkeys((*(check.command for check in state.task.checks), *before, *now))
    if not asked:
        return ["none given"]
    rows = [
        f"| {escape_cell(format_code(command))} | {_render_check_run(before.get(command))} | "
        f"{_render_check_run(now.get(command))} |"
        for command in asked
    ]
    latest = f"at step {state.verification.verdict_step}, undone since" if state.verification.is_undone else "now"
    lines = [f"| check | before the first change | {latest} |", "|---|---|---|", *rows]
    if state.verification.baseline and (
        state.verification.baseline.measure or (state.verification.verdict and state.verification.verdict.measure)
    ):
        lines += [
            "",
            f"Counted: {state.verification.baseline.measure} before, "
            f"{state.verification.verdict.measure if state.verification.verdict else '?'} now.",
        ]
    if state.verification.baseline and state.verification.baseline.flaky:
        lines += [
            "",
            f"Flaky, deciding nothing: {', '.join(format_code(test, 120) for test in state.verification.baseline.flaky)}",
        ]
    if state.verification.verdict and state.verification.verdict.regressions:
        lines += [
            "",
            f"Worse than before: {', '.join(format_code(test, 120) for test in state.verification.verdict.regressions)}",
        ]
    for label, text in list_evidence_lines(state):
        lines += ["", f"{label.capitalize()}: {escape_inline(text, 400)}"]
    for run in now.values():
        lines += [f"- {format_code(failure.test, 160)} fails: {escape_inline(failure.message, 200)}" for failure in run.failures]
    return lines


def _render_check_run(run: CheckRun | None) -> str:
    return "not run" if run is None else escape_cell(describe_check_run(run))


def _render_changes(state: State) -> list[str]:
    lines = [f"- {format_code(path, 300)}" for path in state.workspace.changed[:MAX_SESSION_PATHS]] or ["nothing"]
    if len(state.workspace.changed) > MAX_SESSION_PATHS:
        lines.append(f"- and {len(state.workspace.changed) - MAX_SESSION_PATHS:,} more")
    if state.workspace.branch:
        lines += [
            "",
            f"On branch {format_code(state.workspace.branch, 100)}, made from {format_code(state.workspace.base[:12])}; "
            "your checkout is untouched.",
        ]
    if state.workspace.commit:
        lines += ["", f"Commit {format_code(state.workspace.commit[:12])}."]
    return lines if not state.workspace.note else [*lines, "", escape_inline(state.workspace.note, 500)]


def _render_decisions(state: State) -> list[str]:
    """Render decisions; answers are listed with the user's messages."""
    decisions = [decision for decision in state.memory.decisions if not decision.answer]
    earlier = len(decisions) - MAX_SESSION_DECISIONS
    lines = [f"- {earlier:,} earlier ones are in the decision log"] if earlier > 0 else []
    return [*lines, *map(_render_decision, decisions[-MAX_SESSION_DECISIONS:])]


@lru_cache(256)
def _render_decision(decision: Decision) -> str:
    why = f" Why: {escape_inline(decision.why)}" if decision.why else ""
    sure = f" ({decision.confidence:.0%} sure)" if decision.confidence is not None and decision.by == "model" else ""
    subject = f"{escape_inline(decision.subject, 120)}: " if decision.subject else ""
    return f"- step {decision.step}, {escape_inline(decision.by, 40)}: {subject}{escape_inline(decision.text)}{sure}{why}"


def _render_part(part: SubtaskResult) -> list[str]:
    """Render a subtask as the model was shown it."""
    return [f"- step {part.step}: {escape_inline(part.goal, 200)}", *(f"  {line}" for line in quote_lines(part.text))]


def _facts_of_kind(state: State, kind: FactKind) -> tuple[Fact, ...]:
    return tuple(fact for fact in state.memory.facts if fact.kind is kind)


def _render_facts(facts: tuple[Fact, ...]) -> list[str]:
    return [*map(_render_fact, facts)]


@lru_cache(256)
def _render_fact(fact: Fact) -> str:
    sureness = "" if fact.confidence >= 1 else f", confidence {fact.confidence:.2f}"
    return f"- {escape_inline(fact.subject, 200)}: {escape_inline(fact.text, 600)} (step {fact.step}{sureness})"


def _render_step(record: StepRecord) -> list[str]:
    line = make_step_line(record)
    lines = ["", f"### Step {record.step}: {line.mark} {escape_inline(line.text, 300)}", ""]
    if record.thought:
        lines += [*quote_lines(record.thought[:2000]), ""]
    for seen in record.observations:
        lines.append(f"- {format_code(f'{seen.action.tool} {describe_subject(seen.action)}')} {'ok' if seen.ok else 'failed'}")
        lines += [f"  {line}" for line in quote_lines(seen.text[:2000])[:MAX_DIGEST_LINES]]
    return [*lines, f"- outcome: {escape_inline(record.outcome, 300)}"]


def _render_spending(state: State) -> list[str]:
    usage = state.spending.usage
    return [
        f"Model: {state.spending.calls_told}, {usage.input:,} tokens in ({usage.cached:,} of them cached), "
        f"{usage.output:,} out. "
        f"Largest call {describe_largest_call(state)}. "
        f"{format_count(state.workspace.kept, 'change')} kept, {state.workspace.reverted:,} undone.",
        *([f"{describe_parts(state)}."] if state.work.subtasks else []),
        f"Limit: {'; '.join(said for said in (describe_limits(state), describe_calibration(state)) if said)}.",
    ]
