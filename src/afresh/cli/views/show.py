"""One task in detail."""

import dataclasses
from typing import TYPE_CHECKING, Any

from afresh.cli.views.parts import fields, gauge, heading, runs_json, said, word
from afresh.domain.action import subject
from afresh.domain.codec import encode
from afresh.domain.fact import Decision
from afresh.domain.option import offered
from afresh.domain.said import words_said
from afresh.domain.state import State, StepRecord
from afresh.domain.text import one_line
from afresh.projections.ceiling import ceiling_json, ceiling_words, counted_words
from afresh.projections.standing import commands, counted, failed_approaches, iso, next_steps, undone

if TYPE_CHECKING:
    from rich.console import RenderableType


def show_json(state: State) -> dict[str, Any]:
    """The whole state, with what can be derived from it."""
    return {field.name: encode(getattr(state, field.name)) for field in dataclasses.fields(state)} | {
        "phase": state.phase,
        "status": state.status.value,
        "step": state.step,
        "next": list(next_steps(state)),
        "commands": list(commands(state)),
        "ceiling": ceiling_json(state),
        "tests": {
            "before": runs_json(state.baseline.runs if state.baseline else ()),
            "now": runs_json(state.verdict.runs if state.verdict else ()),
        },
    }


def show(state: State, cost: str = "") -> "RenderableType":
    """`cost`: the money that it took, in words; empty where nobody pays."""
    from rich.console import Group

    sections: list[tuple[str, list[tuple[str, Any]]]] = [
        ("Open question", _question(state)),
        ("Said by the user", _words(state)),
        ("Criteria", _criteria(state)),
        ("Plan", [("✓" if item.done else "·", said(item.text, "dim" if item.done else "")) for item in state.plan]),
        (
            "Decisions",
            [(f"step {it.step}", _decision(it)) for it in state.decisions if not it.answer],
        ),
        ("Failed: not to be tried again", [(f"step {f.step}", said(f"{f.subject}: {f.text}")) for f in failed_approaches(state)]),
        ("Last steps", [(f"{record.step}", _step(record)) for record in state.recent]),
        ("Changed files", [("·", said(path)) for path in state.changed]),
        ("Next steps", [("·", said(step)) for step in next_steps(state)]),
    ]
    parts: list[RenderableType] = [_head(state), fields(_facts(state, cost))]
    for title, rows in sections:
        if rows:
            parts += [heading(title), fields(rows)]
    return Group(*parts, heading("Commands"), *(said(f"  {command}", "cyan") for command in commands(state)))


def _head(state: State) -> "RenderableType":
    from rich.text import Text

    return Text.assemble(
        (f"{one_line(state.task.id, 40)}  ", "bold"), word(state.status.value), "\n", said(state.task.goal), "\n"
    )


def _facts(state: State, cost: str) -> list[tuple[str, Any]]:
    task = state.task
    spent = f"{counted(state.calls, 'call')}, {state.usage.input:,} tokens in, {state.usage.output:,} out"
    rows: list[tuple[str, Any]] = [
        ("type", said(task.type)),
        ("phase", f"{state.phase}, step {state.step} of at most {state.limit}"),
        ("outcome", said(state.outcome or "none yet", limit=400)),
        ("branch", said(f"{state.branch} from {state.base[:12]}" if state.branch else "not opened yet")),
        ("spent", f"{cost}: {spent}" if cost else spent),
        ("largest call", gauge(state.largest, state.room.highest or state.budget)),
        ("ceiling", said(ceiling_words(state), limit=600)),
        ("changes", f"{state.kept} kept, {state.reverted} reverted"),
        ("times", f"started {iso(state.started)}, last event {iso(state.updated)}"),
    ]
    if task.report:
        rows.insert(1, ("writes", said(f"{task.report}, and nothing else")))
    if counted_words(state):
        rows.append(("tokens", said(counted_words(state), limit=400)))
    if state.worker:
        rows.append(("worker", said(state.worker)))
    return rows if not state.note else [*rows, ("note", said(state.note))]


def _question(state: State) -> list[tuple[str, Any]]:
    if not state.question:
        return []
    asked = f"asked by the {state.asked_by or 'model'} {iso(state.updated)}; afresh answer {state.task.id} with "
    how = said(asked + ("a number or your own words" if state.options else "your own words"), "dim")
    return [
        ("?", said(state.question, "yellow")),
        *((str(one.number), said(one.words)) for one in offered(state.options)),
        ("", how),
    ]


def _words(state: State) -> list[tuple[str, Any]]:
    """Each answer after its question."""
    rows: list[tuple[str, Any]] = []
    for one in words_said(state):
        rows += [("?", said(one.question, "dim"))] if one.question else []
        rows.append(("•", said(one.text)))
    return rows


def _decision(made: Decision) -> "RenderableType":
    subject = f"{made.subject}: " if made.subject else ""
    sure = f", {made.confidence:.0%} sure" if made.confidence is not None and made.by == "model" else ""
    return said(f"{made.by}: {subject}{made.text}{f' ({made.why})' if made.why else ''}{sure}")


def _criteria(state: State) -> list[tuple[str, Any]]:
    before = runs_json(state.baseline.runs if state.baseline else ())["words"]
    now = runs_json(state.verdict.runs if state.verdict else ())["words"]
    rows: list[tuple[str, Any]] = [("·", said(check.command)) for check in state.task.checks]
    rows.append(("before", before))
    rows.append(("undone" if undone(state) else "now", now))
    if state.verdict:
        ruling = word(state.verdict.ruling.value)
        rows.append(
            ("verdict", ruling.append(f" at step {state.verdict_step}: {one_line(state.verdict.reason, 300)}", "default"))
        )
        rows += [("fails", said(f"{f.test}: {f.message}", "red", limit=300)) for run in state.verdict.runs for f in run.failures]
    return rows


def _step(record: StepRecord) -> "RenderableType":
    text = word("kept" if record.kept else "reverted")
    for seen in record.observations:
        done = "" if seen.ok else " (failed)"
        named = one_line(f"{seen.action.tool} {subject(seen.action)}", 100)
        text.append("" if record.outcome.startswith(named) else f"  {named}{done}", "default")
    return text.append(f"  {one_line(record.outcome, 200)}", "dim")
