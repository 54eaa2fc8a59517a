"""Replayed sessions: a line for each, totals, costs, and steps that would have missed something."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from afresh.app.inspect.replay_sessions import ReplayProgress
from afresh.core.text import format_count
from afresh.core.truncate import to_one_line
from afresh.replay.report import (
    PaidTokens,
    ReferenceRecall,
    ReplayReport,
    ReplayTotals,
    RunMeasurement,
    list_missed_references,
    report_to_json,
)
from afresh.views.page import Block, Fields, Heading, Line, Page, Table

MAX_RUNS = 40
MAX_MOMENTS = 6
MAX_PROBLEMS = 10


@contextmanager
def show_progress_bar(console: Console) -> Iterator[Callable[[ReplayProgress], None]]:
    """Show a progress bar that is removed at the end; nothing without a terminal."""
    if not console.is_terminal:
        yield lambda _: None
        return

    columns = (BarColumn(28), TextColumn("{task.percentage:>3.0f} %"), TimeRemainingColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=console, transient=True) as shown:
        task = shown.add_task("", total=1.0)
        yield lambda progress: shown.update(task, completed=progress.share, description=progress.words)


def build_replay_report(report: ReplayReport, page: Path | None = None) -> Page:
    many = "the agents" if len(report.runs) > 1 else "the agent"
    about = (
        f"afresh: a prompt of at most {report.budget:,} tokens, kept and extended to {report.bound:,} while that is cheaper; "
        f"{many} kept the whole history."
    )
    means = (
        "paid: relative to theirs, with caching; names, lines: share of what the next action needed that the prompt contained"
        " (the latest steps in as many tokens)"
    )
    rows = [*map(_list_cells, report.runs[:MAX_RUNS])]
    left: list[Block] = [[(f"… {len(report.runs) - MAX_RUNS:,} more", "dim")]] if len(report.runs) > MAX_RUNS else []
    blocks: list[Block] = [
        [(about, "dim")],
        Table("session|agent|>steps|>sent|>fewer|>paid|>names|>lines", rows),
        *left,
        [(means, "dim")],
        Heading("Total"),
        Fields([*_list_total_fields(report), *_list_money_fields(report)]),
        *_list_loss_blocks(report),
    ]
    if report.problems:
        more = len(report.problems) - MAX_PROBLEMS
        blocks += [Heading("Skipped or unreadable"), *([(f"  {it}", "yellow")] for it in report.problems[:MAX_PROBLEMS])]
        blocks += [[(f"  … {more:,} more", "dim")]] if more > 0 else []
    blocks.append([(f"\nPage: {page}" if page else "\n--html writes a page with every step", "cyan" if page else "dim")])
    return Page(report_to_json(report) | {"page": str(page) if page else None}, blocks)


def _list_cells(measurement: RunMeasurement) -> list[Line]:
    total, made_by = measurement.total, ", ".join(filter(None, (measurement.run.agent, measurement.run.model)))
    return [
        to_one_line(_shorten_session_name(measurement.run.id or measurement.run.path), 24),
        [(to_one_line(made_by, 20), "dim")],
        f"{total.steps:,}",
        f"{abbreviate_tokens(total.theirs)} → {abbreviate_tokens(total.ours)}",
        _format_percent(total.saving),
        _format_percent(1 - measurement.paid.saving),
        _describe_recall(total.names),
        _describe_recall(total.lines),
    ]


def _describe_recall(recall: ReferenceRecall) -> Line:
    yardstick = f" ({_format_percent(recall.window_share)})" if recall.needed else ""
    return [(_format_percent(recall.share), ""), (yardstick, "dim")]


def _shorten_session_name(name: str) -> str:
    """Keep the end of a long name, which tells sessions apart."""
    return name.rstrip("/").rsplit("/", 1)[-1] or name


def _list_total_fields(report: ReplayReport) -> list[tuple[str, Line]]:
    total = report.total
    over = f", {format_count(total.over, 'context')} OVER the limit" if total.over else ""
    sent = f"{total.theirs:,} → {total.ours:,} in {format_count(total.calls, 'call')}: {_describe_saving(total)}"
    rows: list[tuple[str, Line]] = [
        ("sent", [(sent, "bold")]),
        ("paid", _describe_paid(report.paid)),
        ("largest call", f"{total.peak_theirs:,} → {total.peak_ours:,}{over}"),
    ]
    if total.reported:
        reported = f"{total.reported:,} by the provider, system text and tools included"
        rows.append(("reported", f"{reported}{_describe_shortening(total)}"))
    for name, recall in (("names", total.names), ("lines", total.lines)):
        if recall.needed:
            text = f"{recall.held:,} of the {recall.needed:,} needed by the next action were in the prompt"
            text += f", {_format_percent(recall.share)}"
            rows.append((name, f"{text}; of the latest steps in as many tokens {_format_percent(recall.window_share)}"))
    return rows


def _list_money_fields(report: ReplayReport) -> list[tuple[str, Line]]:
    rows: list[tuple[str, Line]] = []
    if bill := report.bill:
        rows.append(("nothing cached", _compare_costs(bill.theirs, bill.ours)))
        rows.append(("both cached", _compare_costs(bill.theirs_cached, bill.ours_cached)))
    if report.unpriced:
        priced = sum(run.bill is not None for run in report.runs)
        known = f"of {priced:,} of {format_count(len(report.runs), 'session')}; " if priced else ""
        rows.append(("money", [(known + report.unpriced, "dim")]))
    return rows


def _compare_costs(theirs: float, ours: float) -> Line:
    gain = theirs - ours
    words, style = (f"{_format_dollars(gain)} saved", "green") if gain > 0 else (f"{_format_dollars(-gain)} more", "yellow")
    return [(f"{_format_dollars(theirs)} → {_format_dollars(ours)} for input: ", ""), (words, style)]


def _format_dollars(amount: float) -> str:
    return f"${amount:,.2f}" if amount >= 0.1 else f"${amount:.4f}"


def _list_loss_blocks(report: ReplayReport) -> list[Block]:
    losses, many = list_missed_references(report), len(report.runs) > 1
    if not losses:
        return [Heading("No step would have missed anything.")]
    worst = f"; the {MAX_MOMENTS} worst" if len(losses) > MAX_MOMENTS else ""
    rows: list[tuple[str, Line]] = []
    for loss in losses[:MAX_MOMENTS]:
        run = f"{to_one_line(_shorten_session_name(loss.run), 40)} " if many else ""
        rows.append(("•", f"{run}step {loss.step:,} needed {to_one_line(loss.need.text, 70)!r}, {loss.words}"))
    return [Heading(f"{format_count(len(losses), 'step')} would have missed something{worst}"), Fields(rows)]


def _describe_saving(total: ReplayTotals) -> str:
    return f"{_format_percent(total.saving)} fewer" if total.saving > 0 else "no saving, the sessions are short"


def _describe_paid(paid: PaidTokens) -> str:
    """Say honestly where a kept history, which is nearly all cached, would have been paid less."""
    against = f"{_format_percent(paid.saving)} fewer" if paid.saving > 0 else f"{_format_percent(-paid.saving)} more"
    return f"{paid.theirs:,} → {paid.ours:,} if what was sent before is cached: {against}"


def _describe_shortening(total: ReplayTotals) -> str:
    """Note that an agent with compaction did not send its whole history, so the saving is smaller."""
    if total.reported >= total.theirs:
        return ""
    saving = 1 - total.ours / total.reported
    against = f"{_format_percent(saving)} fewer" if saving > 0 else "no saving"
    return f"; that is less than the whole history, so the agent compacted it; compared with that, {against}"


def _format_percent(share: float | None) -> str:
    if share is None:
        return "–"
    return f"{share:.1%}" if 0.995 < share < 1 else f"{share:.0%}"


def abbreviate_tokens(tokens: int) -> str:
    for size, letter in ((1_000_000, "M"), (1_000, "k")):
        if tokens >= size:
            return f"{tokens / size:.1f}{letter}" if tokens < 100 * size else f"{tokens / size:.0f}{letter}"
    return str(tokens)
