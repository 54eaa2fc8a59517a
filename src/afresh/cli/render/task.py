"""Renders one task in detail."""

from afresh.cli.render.widgets import WORD_STYLES, Line, Span, draw_gauge, lay_out_fields, quote_text, wrap_line
from afresh.core.action import describe_subject
from afresh.core.answer_options import list_user_statements, parse_options
from afresh.core.decision import Decision
from afresh.core.memory_state import StepRecord
from afresh.core.state import State
from afresh.core.steering_files import is_steering_file
from afresh.core.truncate import to_one_line
from afresh.core.verdict import Verdict, describe_evidence
from afresh.views.task_status import (
    describe_calibration,
    describe_ceiling,
    describe_licence,
    describe_parts,
    describe_question,
    find_current_verdict,
    format_count,
    format_time,
    list_current_failures,
    list_evidence_lines,
    list_failed_approaches,
    list_next_commands,
    list_next_steps,
)
from afresh.views.tasks import task_tests_to_json

Field = tuple[str, Line]
"""A label and its value."""


def render_task(state: State, cost: str = "", paid: str = "", width: int = 80) -> list[Line]:
    """`cost` is the cost as text, empty for free models; `paid` describes tokens sent and paid, with those of subtasks."""
    failed = list_failed_approaches(state)
    sections: list[tuple[str, list[Field]]] = [
        ("Open question", _list_question_fields(state)),
        ("From you", _list_user_words(state)),
        ("Criteria", _list_criteria(state)),
        ("Tests it may change", [(one.by, quote_text(describe_licence(one))) for one in state.verification.licence]),
        ("Plan", [("✓" if item.done else "·", quote_text(item.text, "dim" if item.done else "")) for item in state.work.plan]),
        ("Subtasks", [(one.status.value, quote_text(f"{one.goal}\n{one.text}")) for one in state.work.subtasks]),
        ("Decisions", [(f"step {it.step}", _describe_decision(it)) for it in state.memory.decisions if not it.answer]),
        ("Failed approaches", [(f"step {f.step}", quote_text(f"{f.subject}: {f.text}")) for f in failed]),
        ("Last steps", [(f"{record.step}", _describe_step(record)) for record in state.memory.recent]),
        ("Changed files", [("·", quote_text(path)) for path in state.workspace.changed]),
        ("Next steps", [("·", quote_text(step)) for step in list_next_steps(state)]),
    ]
    lines = [*_render_head(state, width), [], *_lay_out_task_fields(_list_task_fields(state, cost, paid), width)]
    for title, fields in sections:
        if fields:
            lines += [[], [(title, "bold")], *_lay_out_task_fields(fields, width)]
    commands = [quote_text(f"  {command}", "cyan") for command in list_next_commands(state)]
    return [*lines, [], [("Commands", "bold")], *(line for command in commands for line in wrap_line(command, width))]


def _lay_out_task_fields(fields: list[Field], width: int) -> list[Line]:
    return lay_out_fields([((name, "dim"), held) for name, held in fields], width)


def _render_head(state: State, width: int) -> list[Line]:
    name: Span = (f"{to_one_line(state.task.id, 40)}  ", "bold")
    return wrap_line([name, _style_word(state.status.value), ("\n", ""), *quote_text(state.task.goal)], width)


def _style_word(word: str) -> Span:
    """Return a word in its status colour."""
    return word, WORD_STYLES.get(word, "dim")


def _list_task_fields(state: State, cost: str, paid: str) -> list[Field]:
    task = state.task
    usage, workspace = state.spending.usage, state.workspace
    spent = f"{format_count(state.spending.calls, 'call')}, {usage.input:,} tokens in, {usage.output:,} out"
    fields: list[Field] = [
        ("type", quote_text(task.type)),
        ("phase", [(f"{state.phase}, step {state.work.step} of max {state.work.limit}", "")]),
        ("outcome", quote_text(state.work.outcome or "none yet", limit=400)),
        ("branch", quote_text(f"{workspace.branch} from {workspace.base[:12]}" if workspace.branch else "not created yet")),
        ("spent", [(f"{cost}: {spent}" if cost else spent, "")]),
        *([("", [(describe_parts(state), "")])] if state.work.subtasks else []),
        *([("paid", [(paid, "")])] if paid else []),
        ("largest call", draw_gauge(state.tokens.largest_prompt, state.tokens.ceiling.highest or state.budget)),
        ("ceiling", quote_text(describe_ceiling(state), limit=600)),
        ("changes", [(f"{state.workspace.kept} kept, {state.workspace.reverted} reverted", "")]),
        ("times", [(f"started {format_time(state.times.started)}, last event {format_time(state.times.updated)}", "")]),
    ]
    if task.parent:
        fields.insert(0, ("part of", quote_text(task.parent)))
    if task.report:
        fields.insert(1, ("writes", quote_text(f"only {task.report}")))
    if describe_calibration(state):
        fields.append(("tokens", quote_text(describe_calibration(state), limit=400)))
    if state.worker:
        fields.append(("worker", quote_text(state.worker)))
    return fields if not state.workspace.note else [*fields, ("note", quote_text(state.workspace.note))]


def _list_question_fields(state: State) -> list[Field]:
    if not state.dialogue.question:
        return []
    asked = f"asked by the {state.dialogue.asked_by or 'model'} {format_time(state.times.updated)}; "
    asked += f"answer with `afresh answer {state.task.id}` and "
    how = quote_text(asked + ("an option number or your own words" if state.dialogue.options else "your own words"), "dim")
    if state.task.parent:
        how = quote_text(f"returned to {state.task.parent}", "dim")
    return [
        ("?", quote_text(describe_question(state), "yellow")),
        *((str(one.number), quote_text(one.words)) for one in parse_options(state.dialogue.options)),
        ("", how),
    ]


def _list_user_words(state: State) -> list[Field]:
    """List the user's messages, each answer after its question."""
    fields: list[Field] = []
    for one in list_user_statements(state):
        fields += [("?", quote_text(one.question, "dim"))] if one.question else []
        fields.append(("•", quote_text(one.text)))
    return fields


def _describe_decision(made: Decision) -> Line:
    subject = f"{made.subject}: " if made.subject else ""
    sure = f", {made.confidence:.0%} sure" if made.confidence is not None and made.by == "model" else ""
    return quote_text(f"{made.by}: {subject}{made.text}{f' ({made.why})' if made.why else ''}{sure}")


def _list_criteria(state: State) -> list[Field]:
    verification, (verdict, step), data = state.verification, find_current_verdict(state), task_tests_to_json(state)
    fields: list[Field] = [("·", quote_text(check.command)) for check in state.task.checks]
    fields += [(name, [(data[name]["words"], "")]) for name in ("before", "now")]
    if verdict:
        fields.append(("verdict", _describe_verdict(verdict, step)))
        fields += [("evidence", [(known, "")])] if (known := describe_evidence(verdict.runs)) else []
    fields += [(label, quote_text(text, "yellow", limit=400)) for label, text in list_evidence_lines(state)]
    if verification.is_undone and verification.verdict:
        fields.append(("undone", _describe_verdict(verification.verdict, verification.verdict_step)))
    if steering := [path for path in state.workspace.changed if is_steering_file(path)]:
        fields.append(("steers", quote_text(f"changes what steers afresh: {', '.join(steering)}", "yellow", limit=300)))
    failures = list_current_failures(state) if verification.verdict else ()
    return fields + [("fails", quote_text(f"{one.test}: {one.message}", "red", limit=300)) for one in failures]


def _describe_verdict(verdict: Verdict, step: int) -> Line:
    return [_style_word(verdict.ruling.value), (f" at step {step}: {to_one_line(verdict.reason, 300)}", "")]


def _describe_step(record: StepRecord) -> Line:
    line = [_style_word("put back" if record.put_back else "kept" if record.kept else "reverted")]
    for seen in record.observations:
        done = "" if seen.ok else " (failed)"
        named = to_one_line(f"{seen.action.tool} {describe_subject(seen.action)}", 100)
        line.append(("" if record.outcome.startswith(named) else f"  {named}{done}", ""))
    return [*line, (f"  {to_one_line(record.outcome, 200)}", "dim")]
