"""One task in detail."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from afresh.cli.render.widgets import (
    WORD_STYLES,
    draw_sparkline,
    make_table,
    render_diff,
    render_fields,
    render_gauge,
    render_heading,
    render_text,
    render_word,
)
from afresh.core.action import describe_subject
from afresh.core.change import Change
from afresh.core.decision import UNSANDBOXED_DECISION, Decision
from afresh.core.memory_state import StepRecord
from afresh.core.prompt import CallAudit
from afresh.core.question import list_user_statements, parse_options
from afresh.core.state import State
from afresh.core.truncate import to_one_line
from afresh.views.task_status import (
    describe_calibration,
    describe_ceiling,
    describe_parts,
    format_count,
    format_time,
    is_verdict_undone,
    list_failed_approaches,
    list_next_commands,
    list_next_steps,
)
from afresh.views.tasks import check_runs_to_json, run_summary_to_json

if TYPE_CHECKING:
    from rich.console import RenderableType


def render_task(state: State, cost: str = "") -> "RenderableType":
    """`cost`: the money that it took, in words; empty where nobody pays."""
    from rich.console import Group

    sections: list[tuple[str, list[tuple[str, Any]]]] = [
        ("Open question", _list_question_rows(state)),
        ("Said by the user", _list_user_words(state)),
        ("Criteria", _list_criteria(state)),
        ("Plan", [("✓" if item.done else "·", render_text(item.text, "dim" if item.done else "")) for item in state.work.plan]),
        ("Handed out", [(one.status.value, render_text(f"{one.goal}\n{one.text}")) for one in state.work.subtasks]),
        (
            "Decisions",
            [(f"step {it.step}", _render_decision(it)) for it in state.memory.decisions if not it.answer],
        ),
        (
            "Failed: not to be tried again",
            [(f"step {f.step}", render_text(f"{f.subject}: {f.text}")) for f in list_failed_approaches(state)],
        ),
        ("Last steps", [(f"{record.step}", _render_step(record)) for record in state.memory.recent]),
        ("Changed files", [("·", render_text(path)) for path in state.workspace.changed]),
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
    spent = f"{format_count(state.spending.calls, 'call')}, {state.spending.usage.input:,} tokens in, {state.spending.usage.output:,} out"
    rows: list[tuple[str, Any]] = [
        ("type", render_text(task.type)),
        ("phase", f"{state.phase}, step {state.work.step} of at most {state.work.limit}"),
        ("outcome", render_text(state.work.outcome or "none yet", limit=400)),
        (
            "branch",
            render_text(
                f"{state.workspace.branch} from {state.workspace.base[:12]}" if state.workspace.branch else "not opened yet"
            ),
        ),
        ("spent", f"{cost}: {spent}" if cost else spent),
        *([("", describe_parts(state))] if state.work.subtasks else []),
        ("largest call", render_gauge(state.tokens.largest_prompt, state.tokens.ceiling.highest or state.budget)),
        ("ceiling", render_text(describe_ceiling(state), limit=600)),
        ("changes", f"{state.workspace.kept} kept, {state.workspace.reverted} reverted"),
        ("times", f"started {format_time(state.times.started)}, last event {format_time(state.times.updated)}"),
    ]
    if task.parent:
        rows.insert(0, ("part of", render_text(task.parent)))
    if task.report:
        rows.insert(1, ("writes", render_text(f"{task.report}, and nothing else")))
    if describe_calibration(state):
        rows.append(("tokens", render_text(describe_calibration(state), limit=400)))
    if state.worker:
        rows.append(("worker", render_text(state.worker)))
    return rows if not state.workspace.note else [*rows, ("note", render_text(state.workspace.note))]


def _list_question_rows(state: State) -> list[tuple[str, Any]]:
    if not state.dialogue.question:
        return []
    asked = f"asked by the {state.dialogue.asked_by or 'model'} {format_time(state.times.updated)}; afresh answer {state.task.id} with "
    how = render_text(asked + ("a number or your own words" if state.dialogue.options else "your own words"), "dim")
    if state.task.parent:
        how = render_text(f"given back to {state.task.parent}", "dim")
    return [
        ("?", render_text(state.dialogue.question, "yellow")),
        *((str(one.number), render_text(one.words)) for one in parse_options(state.dialogue.options)),
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
    before = check_runs_to_json(state.verification.baseline.runs if state.verification.baseline else ())["words"]
    now = check_runs_to_json(state.verification.verdict.runs if state.verification.verdict else ())["words"]
    rows: list[tuple[str, Any]] = [("·", render_text(check.command)) for check in state.task.checks]
    rows.append(("before", before))
    rows.append(("undone" if is_verdict_undone(state) else "now", now))
    if state.verification.verdict:
        ruling = render_word(state.verification.verdict.ruling.value)
        rows.append(
            (
                "verdict",
                ruling.append(
                    f" at step {state.verification.verdict_step}: {to_one_line(state.verification.verdict.reason, 300)}",
                    "default",
                ),
            )
        )
        rows += [
            ("fails", render_text(f"{f.test}: {f.message}", "red", limit=300))
            for run in state.verification.verdict.runs
            for f in run.failures
        ]
    return rows


def _render_step(record: StepRecord) -> "RenderableType":
    text = render_word("kept" if record.kept else "reverted")
    for seen in record.observations:
        done = "" if seen.ok else " (failed)"
        named = to_one_line(f"{seen.action.tool} {describe_subject(seen.action)}", 100)
        text.append("" if record.outcome.startswith(named) else f"  {named}{done}", "default")
    return text.append(f"  {to_one_line(record.outcome, 200)}", "dim")


MAX_DIFF_LINES = 80


def render_run_summary(
    state: State,
    changes: Sequence[Change],
    audits: Sequence[CallAudit],
    accumulating: int = 0,
    diff_lines: int = MAX_DIFF_LINES,
    cost: str = "",
) -> "RenderableType":
    """`cost`: the money that it took, in words; empty where nobody pays."""
    from rich.console import Group

    data = run_summary_to_json(state, changes, audits, accumulating)
    return Group(
        _render_verdict(data),
        render_fields(_list_summary_fields(state, data | {"cost": cost}, audits)),
        *_render_changed_files(state, changes, diff_lines),
        *_render_reverted(data),
        *_render_next_commands(data),
    )


def _render_verdict(data: dict[str, Any]) -> "RenderableType":
    from rich import box
    from rich.panel import Panel
    from rich.text import Text

    first = data["verdict"] if data["status"] not in ("failed", "blocked") else data["status"]
    style = WORD_STYLES.get(first or data["status"], "dim")
    body = Text.assemble((f"{first or data['status']}", f"bold {style}"), f"  {to_one_line(data['reason'], 400)}\n")
    body.append(to_one_line(data["goal"], 300), "dim")
    return Panel(body, title=render_text(data["task"], "bold", limit=40), title_align="left", box=box.ROUNDED, border_style=style)


def _list_summary_fields(state: State, data: dict[str, Any], audits: Sequence[CallAudit]) -> list[tuple[str, Any]]:
    tests, tokens, measure = data["tests"], data["tokens"], data["measure"]
    rows: list[tuple[str, Any]] = [("asks", _render_asked_question(state))] if state.dialogue.question else []
    if state.unconfined:
        rows.append(("sandbox", render_text(f"NONE: {UNSANDBOXED_DECISION}", "bold red")))
    rows += [("tests", f"{tests['before']['words']} → {tests['after']['words']}")]
    if measure["before"] or measure["after"]:
        rows.append(("violations", f"{measure['before']} → {'not counted' if measure['after'] is None else measure['after']}"))
    if state.verification.baseline and state.verification.baseline.flaky:
        rows.append(("flaky", render_text(", ".join(state.verification.baseline.flaky), "yellow", limit=200)))
    rows.append(("steps", f"{data['steps']}: {format_count(data['kept'], 'change')} kept, {data['reverted']} reverted"))
    if audits:
        largest = max(audits, key=lambda audit: audit.tokens)
        rows.append(("largest call", render_gauge(largest.tokens, largest.budget, largest.reserve)))
        rows.append(("every call", _describe_every_call(tokens)))
    spent = f"{format_count(tokens['calls'], 'call')}, {tokens['input']:,} tokens in, {tokens['output']:,} out"
    rows.append(("spent", f"{data['cost']}: {spent}" if data["cost"] else spent))
    rows += [("", describe_parts(state))] if state.work.subtasks else []
    if tokens["accumulating"]:
        rows.append(("sent in all", _describe_saved_tokens(tokens)))
    return rows + _list_lesson_fields(data["knowledge"])


def _list_lesson_fields(data: dict[str, Any]) -> list[tuple[str, Any]]:
    """What it drew on, and what it leaves for others."""
    told = [f"drew on {', '.join(data['used'])}"] if data["used"] else []
    told += [f"afresh knowledge show {data['left']}"] if data["left"] else []
    return [("learnt", render_text("; ".join(told)))] if told else []


def _render_asked_question(state: State) -> "RenderableType":
    """The question, and what can be answered by a number."""
    options = [f"\n  {one.number} {to_one_line(one.words, 200)}" for one in parse_options(state.dialogue.options)]
    return render_text(state.dialogue.question, "yellow").append("".join(options), "default")


def _describe_every_call(tokens: dict[str, Any]) -> str:
    line = draw_sparkline(tokens["per_call"], tokens["ceiling"])
    return f"{line} min {tokens['min']:,}, median {tokens['median']:,}, max {tokens['max']:,}"


def _describe_saved_tokens(tokens: dict[str, Any]) -> str:
    share = 1 - tokens["sent"] / tokens["accumulating"]
    fewer = f", {share:.0%} fewer" if share > 0 else ""
    return f"{tokens['sent']:,} tokens; with the history kept it would have been {tokens['accumulating']:,}{fewer}"


def _render_changed_files(state: State, changes: Sequence[Change], diff_lines: int) -> list["RenderableType"]:
    if not changes:
        return [render_heading("No file was changed.")]
    table = make_table("file", "kind", ">+", ">−")
    for change in changes:
        table.add_row(render_text(change.path), render_word(change.kind), f"{change.added:,}", f"{change.removed:,}")
    shown, left = render_diff(changes, diff_lines)
    parts: list[RenderableType] = [render_heading("Changed"), table, render_heading("Diff"), shown]
    if left:
        parts.append(render_text(f"… {left:,} more lines: git diff {state.workspace.base[:12]} {state.workspace.branch}", "dim"))
    return parts if diff_lines else parts[:2]


def _render_reverted(data: dict[str, Any]) -> list["RenderableType"]:
    if not data["failed_approaches"]:
        return []
    rows = [(f"step {it['step']}", render_text(f"{it['subject']}: {it['text']}", limit=300)) for it in data["failed_approaches"]]
    return [render_heading("Tried and reverted"), render_fields(rows)]


def _render_next_commands(data: dict[str, Any]) -> list["RenderableType"]:
    what = {"apply": "take the branch into your checkout", "discard": "drop branch and worktree", "resume": "go on",
            "show": "all that is known of the task", "answer": "answer its question"}  # fmt: skip
    rows = [(it, "take it over all the same" if it.endswith("--unverified") else what[it.split()[1]]) for it in data["next"]]
    return [render_heading("Next"), render_fields((render_text(it, "cyan").plain, meaning) for it, meaning in rows)]
