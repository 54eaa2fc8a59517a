"""The end of a run: verdict first, next commands last."""

from collections.abc import Sequence
from typing import Any

from afresh.cli.render.draw_diff import list_diff_lines
from afresh.cli.render.widgets import WORD_STYLES, draw_gauge, draw_sparkline
from afresh.core.answer_options import parse_options
from afresh.core.change import Change, group_by_folder
from afresh.core.decision import UNSANDBOXED_DECISION
from afresh.core.prompt import CallAudit
from afresh.core.reply import OFFLINE_MODEL
from afresh.core.state import State
from afresh.core.task import TaskStatus, name_briefly
from afresh.core.text import format_count
from afresh.core.truncate import to_one_line
from afresh.views.model_calls import HistoryComparison
from afresh.views.page import Block, Box, Fields, Heading, Line, Page, Table
from afresh.views.task_facts import describe_parts, describe_question, list_lowered_functions
from afresh.views.tasks import run_summary_to_json

MAX_DIFF_LINES = 40
MAX_CHANGED_FILES = 40
"""If there are more, files are counted by folder."""
MAX_REASON_CHARACTERS = 1_500
NEXT_MEANS = {
    "apply": "merge the branch into your checkout", "discard": "delete branch and worktree", "resume": "continue",
    "show": "show details", "answer": "answer the question", "retry": "try again",
}  # fmt: skip


def build_run_summary(
    state: State,
    changes: Sequence[Change],
    audits: Sequence[CallAudit],
    history: HistoryComparison | None = None,
    diff_lines: int = MAX_DIFF_LINES,
    cost: str = "",
    stays: bool = True,
) -> Page:
    """`cost` is the cost as text; empty for free models. Where the project is gone afterwards, no command is named."""
    data = run_summary_to_json(state, changes, audits, history)
    blocks: list[Block] = [_make_verdict_box(state, data), Fields(_list_summary_fields(state, data | {"cost": cost}, audits))]
    blocks += _list_change_blocks(state, changes, diff_lines, stays)
    if failed := data["failed_approaches"]:
        rows = [(f"step {value['step']}", to_one_line(f"{value['subject']}: {value['text']}", 300)) for value in failed]
        blocks += [Heading("Tried and undone"), Fields(rows)]
    if stays:
        anyway = "merge it anyway"
        means = NEXT_MEANS | ({"resume": "order the same goal anew"} if state.status is TaskStatus.DISCARDED else {})
        next_rows = [(it, anyway if it.endswith("--unverified") else means[it.split()[1]]) for it in data["next"]]
        blocks += [Heading("Next"), Fields(next_rows)]
    return Page(data, blocks)


def _make_verdict_box(state: State, data: dict[str, Any]) -> Box:
    """An open question has its own row, and is not repeated as the reason."""
    first = data["verdict"] if data["status"] not in ("failed", "blocked", "unchanged") else data["status"]
    word, question = first or data["status"], state.dialogue.question
    reason = "needs your answer" if question and question in data["reason"] else data["reason"]
    style = WORD_STYLES.get(word, "dim")
    goal = (f"\n{to_one_line(data['goal'], 300)}", "dim")
    line = [(word, f"bold {style}"), (f"  {to_one_line(reason, MAX_REASON_CHARACTERS)}", ""), goal]
    return Box(to_one_line(data["task"], 40), line, style)


def _list_summary_fields(state: State, data: dict[str, Any], audits: Sequence[CallAudit]) -> list[tuple[str, Line]]:
    tests, tokens, measure, baseline = data["tests"], data["tokens"], data["measure"], state.verification.baseline
    offline = {audit.model for audit in audits} == {OFFLINE_MODEL}
    options = "".join(f"\n  {option.number} {to_one_line(option.words, 200)}" for option in parse_options(state.dialogue.options))
    rows: list[tuple[str, Line]] = []
    if state.dialogue.question:
        rows.append(("asks", [(describe_question(state), "yellow"), (options, "")]))
    if state.unconfined:
        rows.append(("sandbox", [(f"NONE: {UNSANDBOXED_DECISION}", "bold red")]))
    rows.append(("tests", f"{tests['before']['words']} → {tests['after']['words']}"))
    rows += [(label, [(to_one_line(text, MAX_REASON_CHARACTERS), "yellow")]) for label, text in data["open"].items()]
    if measure["before"] or measure["after"]:
        rows.append(("violations", f"{measure['before']} → {'not counted' if measure['after'] is None else measure['after']}"))
    if lowered := list_lowered_functions(state):
        rows.append((format_count(len(lowered), "function"), "\n".join(lowered)))
    if baseline and baseline.flaky:
        rows.append(("flaky", [(to_one_line(", ".join(baseline.flaky), 200), "yellow")]))
    rows.append(("steps", f"{data['steps']}: {format_count(data['kept'], 'change')} kept, {data['reverted']} undone"))
    if audits and not offline:
        rows.append(("largest call", draw_gauge(max(audits, key=lambda audit: audit.tokens))))
        rows.append(("every call", _describe_every_call(tokens)))
    spent = f"{format_count(tokens['calls'], 'call')}, {tokens['input']:,} tokens in, {tokens['output']:,} out"
    rows.append(("spent", "nothing: no model was called" if offline else f"{data['cost']}: {spent}" if data["cost"] else spent))
    rows += [("", describe_parts(state))] if state.work.subtasks else []
    if tokens.get("accumulating") and not offline:
        rows += [("total sent", _describe_saved_tokens(tokens)), ("total paid", _describe_saved_paid(tokens))]
    lessons = [f"used {', '.join(data['knowledge']['used'])}"] if data["knowledge"]["used"] else []
    lessons += [f"saved one: afresh knowledge show {data['knowledge']['left']}"] if data["knowledge"]["left"] else []
    return rows + ([("lesson", "; ".join(lessons))] if lessons else [])


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


def _list_change_blocks(state: State, changes: Sequence[Change], diff_lines: int, stays: bool) -> list[Block]:
    if not changes:
        return [Heading("No files changed.")]
    rows: list[Sequence[Line]] = [[folder, "", "", ""] for folder in group_by_folder(changes)]
    if len(changes) <= MAX_CHANGED_FILES:
        kinds = [[(change.kind, WORD_STYLES.get(change.kind, "dim"))] for change in changes]
        rows = [[it.path, kind, f"{it.added:,}", f"{it.removed:,}"] for it, kind in zip(changes, kinds, strict=True)]
    blocks: list[Block] = [Heading("Changed"), Table("file|kind|>+|>−", rows)]
    lines, left = list_diff_lines((change.patch for change in changes), diff_lines)
    where = f": afresh diff {name_briefly(state.task.id)}" if stays else ""
    more: list[Block] = [[(f"… {left:,} more lines{where}", "dim")]] if left else []
    return [*blocks, Heading("Diff"), *lines, *more] if diff_lines else blocks
