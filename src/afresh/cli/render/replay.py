"""Renders replayed sessions: a line for each, totals, costs, and steps that would have missed something."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console, Group, RenderableType
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

from afresh.app.inspect.replay_sessions import ReplayProgress
from afresh.cli.render.parts import make_table, render_fields, render_heading, render_text
from afresh.core.text import format_count
from afresh.core.truncate import to_one_line
from afresh.replay.report import MissedReference, PaidTokens, ReferenceRecall, ReplayReport, ReplayTotals, list_missed_references

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


def render_replay_report(report: ReplayReport, page: Path | None = None) -> RenderableType:
    many = "the agents" if len(report.runs) > 1 else "the agent"
    return Group(
        render_text(
            f"afresh: a prompt of at most {report.budget:,} tokens, kept and extended to {report.bound:,} while that is cheaper; "
            f"{many} kept the whole history.",
            "dim",
        ),
        _make_run_table(report),
        render_text(
            "paid: relative to theirs, with caching; names, lines: share of what the next action needed that the prompt contained"
            " (the latest steps in as many tokens)",
            "dim",
        ),
        render_heading("Total"),
        render_fields(_list_total_fields(report)),
        *_render_losses(report),
        *_render_problems(report),
        render_text(f"\nPage: {page}" if page else "\n--html writes a page with every step", "cyan" if page else "dim"),
    )


def _make_run_table(report: ReplayReport) -> RenderableType:
    table = make_table("session|agent|>steps|>sent|>fewer|>paid|>names|>lines")
    for one in report.runs[:MAX_RUNS]:
        total, made_by = one.total, ", ".join(filter(None, (one.run.agent, one.run.model)))
        table.add_row(
            _fit_cell(_shorten_session_name(one.run.id or one.run.path)),
            _fit_cell(made_by, "dim"),
            f"{total.steps:,}",
            f"{abbreviate_tokens(total.theirs)} → {abbreviate_tokens(total.ours)}",
            _format_percent(total.saving),
            f"{_format_percent(1 - one.paid.saving)}",
            _render_recall(total.names),
            _render_recall(total.lines),
        )
    if len(report.runs) > MAX_RUNS:
        table.add_row(render_text(f"… {len(report.runs) - MAX_RUNS:,} more", "dim"))
    return table


def _fit_cell(text: str, style: str = "") -> Text:
    """Make a cell that shrinks before the figures next to it."""
    cell = render_text(text, style, limit=44)
    cell.no_wrap, cell.overflow = True, "ellipsis"
    return cell


def _shorten_session_name(name: str) -> str:
    """Keep the end of a long name, which tells sessions apart."""
    return name.rstrip("/").rsplit("/", 1)[-1] or name


def _list_total_fields(report: ReplayReport) -> list[tuple[str, RenderableType]]:
    total = report.total
    over = f", {format_count(total.over, 'context')} OVER the limit" if total.over else ""
    rows: list[tuple[str, RenderableType]] = [
        (
            "sent",
            render_text(
                f"{total.theirs:,} → {total.ours:,} in {format_count(total.calls, 'call')}: {_describe_saving(total)}", "bold"
            ),
        ),
        ("paid", _describe_paid(report.paid)),
        ("largest call", f"{total.peak_theirs:,} → {total.peak_ours:,}{over}"),
    ]
    if total.reported:
        rows.append(
            ("reported", f"{total.reported:,} by the provider, system text and tools included{_describe_shortening(total)}")
        )
    for name, recall in (("names", total.names), ("lines", total.lines)):
        if recall.needed:
            text = f"{recall.held:,} of the {recall.needed:,} needed by the next action were in the prompt"
            text += f", {_format_percent(recall.share)}"
            rows.append((name, f"{text}; of the latest steps in as many tokens {_format_percent(recall.window_share)}"))
    return rows + _list_money_fields(report)


def _list_money_fields(report: ReplayReport) -> list[tuple[str, RenderableType]]:
    rows: list[tuple[str, RenderableType]] = []
    if bill := report.bill:
        rows.append(("nothing cached", _compare_costs(bill.theirs, bill.ours)))
        rows.append(("both cached", _compare_costs(bill.theirs_cached, bill.ours_cached)))
    if report.unpriced:
        priced = sum(one.bill is not None for one in report.runs)
        known = f"of {priced:,} of {format_count(len(report.runs), 'session')}; " if priced else ""
        rows.append(("money", render_text(known + report.unpriced, "dim")))
    return rows


def _compare_costs(theirs: float, ours: float) -> RenderableType:
    gain = theirs - ours
    words, style = (f"{_format_dollars(gain)} saved", "green") if gain > 0 else (f"{_format_dollars(-gain)} more", "yellow")
    return Text.assemble(f"{_format_dollars(theirs)} → {_format_dollars(ours)} for input: ", (words, style))


def _format_dollars(amount: float) -> str:
    return f"${amount:,.2f}" if amount >= 0.1 else f"${amount:.4f}"


def _render_losses(report: ReplayReport) -> list[RenderableType]:
    found = list_missed_references(report)
    if not found:
        return [render_heading("No step would have missed anything.")]
    many = len(report.runs) > 1
    worst = f"; the {MAX_MOMENTS} worst" if len(found) > MAX_MOMENTS else ""
    title = render_heading(f"{format_count(len(found), 'step')} would have missed something{worst}")
    lines = [
        f"{_describe_loss_place(loss, many)} needed {to_one_line(loss.need.text, 70)!r}, {loss.words}"
        for loss in found[:MAX_MOMENTS]
    ]
    return [title, render_fields(("•", render_text(line)) for line in lines)]


def _describe_loss_place(loss: MissedReference, many: bool) -> str:
    return f"{to_one_line(_shorten_session_name(loss.run), 40)} step {loss.step:,}" if many else f"step {loss.step:,}"


def _render_problems(report: ReplayReport) -> list[RenderableType]:
    if not report.problems:
        return []
    more = len(report.problems) - MAX_PROBLEMS
    lines = [render_text(f"  {problem}", "yellow") for problem in report.problems[:MAX_PROBLEMS]]
    return [
        render_heading("Skipped or unreadable"),
        *lines,
        *([render_text(f"  … {more:,} more", "dim")] if more > 0 else []),
    ]


def _render_recall(recall: ReferenceRecall) -> RenderableType:
    yardstick = (f" ({_format_percent(recall.window_share)})", "dim") if recall.needed else ""
    return Text.assemble(_format_percent(recall.share), yardstick)


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
