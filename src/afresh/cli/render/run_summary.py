"""Renders the end of a run: verdict first, next commands last."""

from collections.abc import Sequence
from typing import Any

from rich import box
from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.text import Text

from afresh.cli.render.parts import make_table, render_diff, render_fields, render_gauge, render_heading, render_text, render_word
from afresh.cli.render.widgets import WORD_STYLES, draw_sparkline
from afresh.core.answer_options import parse_options
from afresh.core.change import Change, group_by_folder
from afresh.core.decision import UNSANDBOXED_DECISION
from afresh.core.prompt import CallAudit
from afresh.core.reply import OFFLINE_MODEL
from afresh.core.state import State
from afresh.core.task import name_briefly
from afresh.core.text import format_count
from afresh.core.truncate import to_one_line
from afresh.views.model_calls import HistoryComparison
from afresh.views.task_facts import describe_parts, describe_question, list_lowered_functions
from afresh.views.tasks import run_summary_to_json

MAX_DIFF_LINES = 40
MAX_CHANGED_FILES = 40
"""With more they are counted by folder."""


def render_run_summary(
    state: State,
    changes: Sequence[Change],
    audits: Sequence[CallAudit],
    history: HistoryComparison | None = None,
    diff_lines: int = MAX_DIFF_LINES,
    cost: str = "",
    stays: bool = True,
) -> RenderableType:
    """`cost` is the cost as text; empty for free models. Where the project is gone afterwards, no command is named."""
    data = run_summary_to_json(state, changes, audits, history)
    return Group(
        _render_verdict(data | ({"reason": "needs your answer"} if _asks_in_reason(state, data) else {})),
        render_fields(_list_summary_fields(state, data | {"cost": cost}, audits)),
        *_render_changed_files(state, changes, diff_lines, stays),
        *_render_reverted(data),
        *(_render_next_commands(data) if stays else ()),
    )


MAX_REASON_CHARACTERS = 1_500


def _asks_in_reason(state: State, data: dict[str, Any]) -> bool:
    """Return whether the reason is the open question, which has a row of its own."""
    return bool(state.dialogue.question) and state.dialogue.question in data["reason"]


def _render_verdict(data: dict[str, Any]) -> RenderableType:
    first = data["verdict"] if data["status"] not in ("failed", "blocked", "unchanged") else data["status"]
    style = WORD_STYLES.get(first or data["status"], "dim")
    body = Text.assemble(
        (f"{first or data['status']}", f"bold {style}"), f"  {to_one_line(data['reason'], MAX_REASON_CHARACTERS)}\n"
    )
    body.append(to_one_line(data["goal"], 300), "dim")
    return Panel(body, title=render_text(data["task"], "bold", limit=40), title_align="left", box=box.ROUNDED, border_style=style)


def _list_summary_fields(state: State, data: dict[str, Any], audits: Sequence[CallAudit]) -> list[tuple[str, Any]]:
    tests, tokens, measure = data["tests"], data["tokens"], data["measure"]
    offline = {audit.model for audit in audits} == {OFFLINE_MODEL}
    rows: list[tuple[str, Any]] = [("asks", _render_asked_question(state))] if state.dialogue.question else []
    if state.unconfined:
        rows.append(("sandbox", render_text(f"NONE: {UNSANDBOXED_DECISION}", "bold red")))
    rows += [("tests", f"{tests['before']['words']} → {tests['after']['words']}")]
    rows += [(label, render_text(text, "yellow", limit=MAX_REASON_CHARACTERS)) for label, text in data["open"].items()]
    if measure["before"] or measure["after"]:
        rows.append(("violations", f"{measure['before']} → {'not counted' if measure['after'] is None else measure['after']}"))
    if lowered := list_lowered_functions(state):
        rows.append((format_count(len(lowered), "function"), render_text("\n".join(lowered))))
    if state.verification.baseline and state.verification.baseline.flaky:
        rows.append(("flaky", render_text(", ".join(state.verification.baseline.flaky), "yellow", limit=200)))
    rows.append(("steps", f"{data['steps']}: {format_count(data['kept'], 'change')} kept, {data['reverted']} undone"))
    if audits and not offline:
        largest = max(audits, key=lambda audit: audit.tokens)
        rows.append(("largest call", render_gauge(largest)))
        rows.append(("every call", _describe_every_call(tokens)))
    spent = f"{format_count(tokens['calls'], 'call')}, {tokens['input']:,} tokens in, {tokens['output']:,} out"
    rows.append(("spent", "nothing: no model was called" if offline else f"{data['cost']}: {spent}" if data["cost"] else spent))
    rows += [("", describe_parts(state))] if state.work.subtasks else []
    if tokens.get("accumulating") and not offline:
        rows += [("total sent", _describe_saved_tokens(tokens)), ("total paid", _describe_saved_paid(tokens))]
    return rows + _list_lesson_fields(data["knowledge"])


def _list_lesson_fields(data: dict[str, Any]) -> list[tuple[str, Any]]:
    """List the lessons that the task used and drafted."""
    told = [f"used {', '.join(data['used'])}"] if data["used"] else []
    told += [f"saved one: afresh knowledge show {data['left']}"] if data["left"] else []
    return [("lesson", render_text("; ".join(told)))] if told else []


def _render_asked_question(state: State) -> RenderableType:
    """Render the question and its numbered options."""
    options = [f"\n  {one.number} {to_one_line(one.words, 200)}" for one in parse_options(state.dialogue.options)]
    return render_text(describe_question(state), "yellow").append("".join(options), "default")


def _describe_every_call(tokens: dict[str, Any]) -> str:
    line = draw_sparkline(tokens["per_call"], tokens["ceiling"])
    return f"{line} min {tokens['min']:,}, median {tokens['median']:,}, max {tokens['max']:,}"


def _describe_saved_tokens(tokens: dict[str, Any]) -> str:
    kept = f"keeping the history would have sent {tokens['accumulating']:,}"
    return f"{tokens['sent']:,} tokens; {kept}{_describe_share(tokens['saved'])}"


def _describe_saved_paid(tokens: dict[str, Any]) -> str:
    """Describe paid tokens; a kept history is nearly all cached, so this may be a loss."""
    about = "about " if tokens["sent_paid_estimated"] else ""
    kept = f"the history, cached, would have been {tokens['accumulating_paid']:,}"
    return f"{about}{tokens['sent_paid']:,} tokens; {kept}{_describe_share(tokens['saved_paid'])}"


def _describe_share(saved: float) -> str:
    if abs(saved) < 0.005:
        return " (the same)"
    return f" ({saved:.0%} saved)" if saved > 0 else f" (this is {-saved:.0%} more)"


def _render_changed_files(state: State, changes: Sequence[Change], diff_lines: int, stays: bool) -> list[RenderableType]:
    if not changes:
        return [render_heading("No files changed.")]
    table = make_table(
        "file|kind|>+|>−",
        ([render_text(folder)] for folder in (group_by_folder(changes) if len(changes) > MAX_CHANGED_FILES else ())),
    )
    for change in changes if len(changes) <= MAX_CHANGED_FILES else ():
        table.add_row(render_text(change.path), render_word(change.kind), f"{change.added:,}", f"{change.removed:,}")
    shown, left = render_diff(changes, diff_lines)
    parts: list[RenderableType] = [render_heading("Changed"), table, render_heading("Diff"), shown]
    if left:
        where = f": afresh diff {name_briefly(state.task.id)}" if stays else ""
        parts.append(render_text(f"… {left:,} more lines{where}", "dim"))
    return parts if diff_lines else parts[:2]


def _render_reverted(data: dict[str, Any]) -> list[RenderableType]:
    if not data["failed_approaches"]:
        return []
    rows = [(f"step {it['step']}", render_text(f"{it['subject']}: {it['text']}", limit=300)) for it in data["failed_approaches"]]
    return [render_heading("Tried and undone"), render_fields(rows)]


def _render_next_commands(data: dict[str, Any]) -> list[RenderableType]:
    what = {"apply": "merge the branch into your checkout", "discard": "delete branch and worktree", "resume": "continue",
            "show": "show details", "answer": "answer the question", "retry": "try again"}  # fmt: skip
    rows = [(it, "merge it anyway" if it.endswith("--unverified") else what[it.split()[1]]) for it in data["next"]]
    return [render_heading("Next"), render_fields((render_text(it, "cyan").plain, meaning) for it, meaning in rows)]
