"""One task in detail."""

import dataclasses
from typing import TYPE_CHECKING, Any

from afresh.cli.views.parts import render_fields, render_gauge, render_heading, check_runs_to_json, render_text, render_word
from afresh.domain.action import describe_subject
from afresh.domain.codec import to_plain_value
from afresh.domain.fact import Decision
from afresh.domain.option import parse_options
from afresh.domain.said import list_user_statements
from afresh.domain.state import State, StepRecord
from afresh.domain.text import to_one_line
from afresh.projections.ceiling import ceiling_to_json, describe_ceiling, describe_calibration
from afresh.projections.standing import (
    list_next_commands,
    format_count,
    list_failed_approaches,
    describe_parts,
    format_time,
    list_next_steps,
    is_verdict_undone,
)

if TYPE_CHECKING:
    from rich.console import RenderableType


def task_to_json(state: State) -> dict[str, Any]:
    """The whole state, with what can be derived from it."""
    return {field.name: to_plain_value(getattr(state, field.name)) for field in dataclasses.fields(state)} | {
        "phase": state.phase,
        "status": state.status.value,
        "step": state.step,
        "next": list(list_next_steps(state)),
        "commands": list(list_next_commands(state)),
        "ceiling": ceiling_to_json(state),
        "tests": {
            "before": check_runs_to_json(state.baseline.runs if state.baseline else ()),
            "now": check_runs_to_json(state.verdict.runs if state.verdict else ()),
        },
    }


def render_task(state: State, cost: str = "") -> "RenderableType":
    """`cost`: the money that it took, in words; empty where nobody pays."""
    from rich.console import Group

    sections: list[tuple[str, list[tuple[str, Any]]]] = [
        ("Open question", _list_question_rows(state)),
        ("Said by the user", _list_user_words(state)),
        ("Criteria", _list_criteria(state)),
        ("Plan", [("✓" if item.done else "·", render_text(item.text, "dim" if item.done else "")) for item in state.plan]),
        ("Handed out", [(one.status.value, render_text(f"{one.goal}\n{one.text}")) for one in state.delegated]),
        (
            "Decisions",
            [(f"step {it.step}", _render_decision(it)) for it in state.decisions if not it.answer],
        ),
        (
            "Failed: not to be tried again",
            [(f"step {f.step}", render_text(f"{f.subject}: {f.text}")) for f in list_failed_approaches(state)],
        ),
        ("Last steps", [(f"{record.step}", _render_step(record)) for record in state.recent]),
        ("Changed files", [("·", render_text(path)) for path in state.changed]),
        ("Next steps", [("·", render_text(step)) for step in list_next_steps(state)]),
    ]
    parts: list[RenderableType] = [_render_task_head(state), render_fields(_list_task_fields(state, cost))]
    for title, rows in sections:
        if rows:
            parts += [render_heading(title), render_fields(rows)]
    return Group(
        *parts, render_heading("Commands"), *(render_text(f"  {command}", "cyan") for command in list_next_commands(state))
    )


def _render_task_head(state: State) -> "RenderableType":
    from rich.text import Text

    return Text.assemble(
        (f"{to_one_line(state.task.id, 40)}  ", "bold"), render_word(state.status.value), "\n", render_text(state.task.goal), "\n"
    )


def _list_task_fields(state: State, cost: str) -> list[tuple[str, Any]]:
    task = state.task
    spent = f"{format_count(state.calls, 'call')}, {state.usage.input:,} tokens in, {state.usage.output:,} out"
    rows: list[tuple[str, Any]] = [
        ("type", render_text(task.type)),
        ("phase", f"{state.phase}, step {state.step} of at most {state.limit}"),
        ("outcome", render_text(state.outcome or "none yet", limit=400)),
        ("branch", render_text(f"{state.branch} from {state.base[:12]}" if state.branch else "not opened yet")),
        ("spent", f"{cost}: {spent}" if cost else spent),
        *([("", describe_parts(state))] if state.delegated else []),
        ("largest call", render_gauge(state.largest, state.room.highest or state.budget)),
        ("ceiling", render_text(describe_ceiling(state), limit=600)),
        ("changes", f"{state.kept} kept, {state.reverted} reverted"),
        ("times", f"started {format_time(state.started)}, last event {format_time(state.updated)}"),
    ]
    if task.parent:
        rows.insert(0, ("part of", render_text(task.parent)))
    if task.report:
        rows.insert(1, ("writes", render_text(f"{task.report}, and nothing else")))
    if describe_calibration(state):
        rows.append(("tokens", render_text(describe_calibration(state), limit=400)))
    if state.worker:
        rows.append(("worker", render_text(state.worker)))
    return rows if not state.note else [*rows, ("note", render_text(state.note))]


def _list_question_rows(state: State) -> list[tuple[str, Any]]:
    if not state.question:
        return []
    asked = f"asked by the {state.asked_by or 'model'} {format_time(state.updated)}; afresh answer {state.task.id} with "
    how = render_text(asked + ("a number or your own words" if state.options else "your own words"), "dim")
    if state.task.parent:
        how = render_text(f"given back to {state.task.parent}", "dim")
    return [
        ("?", render_text(state.question, "yellow")),
        *((str(one.number), render_text(one.words)) for one in parse_options(state.options)),
        ("", how),
    ]


def _list_user_words(state: State) -> list[tuple[str, Any]]:
    """Each answer after its question."""
    rows: list[tuple[str, Any]] = []
    for one in list_user_statements(state):
        rows += [("?", render_text(one.question, "dim"))] if one.question else []
        rows.append(("•", render_text(one.text)))
    return rows


def _render_decision(made: Decision) -> "RenderableType":
    subject = f"{made.subject}: " if made.subject else ""
    sure = f", {made.confidence:.0%} sure" if made.confidence is not None and made.by == "model" else ""
    return render_text(f"{made.by}: {subject}{made.text}{f' ({made.why})' if made.why else ''}{sure}")


def _list_criteria(state: State) -> list[tuple[str, Any]]:
    before = check_runs_to_json(state.baseline.runs if state.baseline else ())["words"]
    now = check_runs_to_json(state.verdict.runs if state.verdict else ())["words"]
    rows: list[tuple[str, Any]] = [("·", render_text(check.command)) for check in state.task.checks]
    rows.append(("before", before))
    rows.append(("undone" if is_verdict_undone(state) else "now", now))
    if state.verdict:
        ruling = render_word(state.verdict.ruling.value)
        rows.append(
            ("verdict", ruling.append(f" at step {state.verdict_step}: {to_one_line(state.verdict.reason, 300)}", "default"))
        )
        rows += [
            ("fails", render_text(f"{f.test}: {f.message}", "red", limit=300)) for run in state.verdict.runs for f in run.failures
        ]
    return rows


def _render_step(record: StepRecord) -> "RenderableType":
    text = render_word("kept" if record.kept else "reverted")
    for seen in record.observations:
        done = "" if seen.ok else " (failed)"
        named = to_one_line(f"{seen.action.tool} {describe_subject(seen.action)}", 100)
        text.append("" if record.outcome.startswith(named) else f"  {named}{done}", "default")
    return text.append(f"  {to_one_line(record.outcome, 200)}", "dim")
