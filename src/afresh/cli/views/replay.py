"""Replayed sessions: a line for each, the sums, the money, and the moments where something would have been missing."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from afresh.app.replays import Loss, Progress, Recall, Report, Total, losses
from afresh.cli.views.parts import fields, heading, listing, said
from afresh.domain.text import one_line

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.text import Text

RUNS = 40
MOMENTS = 6
PROBLEMS = 10


@contextmanager
def bar(console: "Console") -> Iterator[Callable[[Progress], None]]:
    """A progress bar that leaves nothing behind; silent where nobody looks."""
    if not console.is_terminal:
        yield lambda _: None
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (BarColumn(28), TextColumn("{task.percentage:>3.0f} %"), TimeRemainingColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=console, transient=True) as shown:
        task = shown.add_task("", total=1.0)
        yield lambda progress: shown.update(task, completed=progress.share, description=progress.words)


def replayed(report: Report, page: Path | None = None) -> "RenderableType":
    from rich.console import Group

    many = "the agents" if len(report.runs) > 1 else "the agent"
    return Group(
        said(f"At most {report.budget:,} tokens a call, where {many} kept the whole history.", "dim"),
        _runs(report),
        said("names, lines: what the next action needed and the context held (a window of the same size)", "dim"),
        heading("In all"),
        fields(_sums(report)),
        *_moments(report),
        *_problems(report),
        said(f"\nThe page: {page}" if page else "\n--html makes a page to look into, step by step", "cyan" if page else "dim"),
    )


def _runs(report: Report) -> "RenderableType":
    table = listing("session", "agent", ">steps", ">tokens", ">fewer", ">names", ">lines")
    for one in report.runs[:RUNS]:
        total, made_by = one.total, ", ".join(filter(None, (one.run.agent, one.run.model)))
        table.add_row(
            _fitted(_session(one.run.id or one.run.path)), _fitted(made_by, "dim"), f"{total.steps:,}",
            f"{short(total.theirs)} → {short(total.ours)}", _percent(total.saving), _recall(total.names), _recall(total.lines),
        )  # fmt: skip
    if len(report.runs) > RUNS:
        table.add_row(said(f"… {len(report.runs) - RUNS:,} more", "dim"))
    return table


def _fitted(text: str, style: str = "") -> "Text":
    """A cell that gives way to the figures beside it."""
    cell = said(text, style, limit=44)
    cell.no_wrap, cell.overflow = True, "ellipsis"
    return cell


def _session(name: str) -> str:
    """The telling end of a long name."""
    return name.rstrip("/").rsplit("/", 1)[-1] or name


def _sums(report: Report) -> list[tuple[str, "RenderableType"]]:
    total = report.total
    over = f", {_counted(total.over, 'context')} OVER the ceiling" if total.over else ""
    rows: list[tuple[str, RenderableType]] = [
        ("tokens", said(f"{total.theirs:,} → {total.ours:,} in {_counted(total.calls, 'call')}: {_fewer(total)}", "bold")),
        ("largest call", f"{total.peak_theirs:,} → {total.peak_ours:,}{over}"),
    ]
    if total.reported:
        rows.append(("reported", f"{total.reported:,} by the provider, system text and tools included{_shortened(total)}"))
    for name, recall in (("names", total.names), ("lines", total.lines)):
        if recall.needed:
            text = f"{recall.held:,} of the {recall.needed:,} that the next action needed were held, {_percent(recall.share)}"
            rows.append((name, f"{text}; by a window of the same size {_percent(recall.window_share)}"))
    return rows + _money(report)


def _money(report: Report) -> list[tuple[str, "RenderableType"]]:
    rows: list[tuple[str, RenderableType]] = []
    if bill := report.bill:
        rows.append(("nothing cached", _compared(bill.theirs, bill.ours)))
        rows.append(("theirs cached", _compared(bill.theirs_cached, bill.ours)))
    if report.unpriced:
        priced = sum(one.bill is not None for one in report.runs)
        known = f"of {priced:,} of {_counted(len(report.runs), 'session')}; " if priced else ""
        rows.append(("money", said(known + report.unpriced, "dim")))
    return rows


def _compared(theirs: float, ours: float) -> "RenderableType":
    from rich.text import Text

    gain = theirs - ours
    words, style = (f"{_dollars(gain)} saved", "green") if gain > 0 else (f"{_dollars(-gain)} more", "yellow")
    return Text.assemble(f"{_dollars(theirs)} → {_dollars(ours)} for input: ", (words, style))


def _dollars(amount: float) -> str:
    return f"${amount:,.2f}" if amount >= 0.1 else f"${amount:.4f}"


def _moments(report: Report) -> list["RenderableType"]:
    found = losses(report)
    if not found:
        return [heading("Nothing that was needed would have been missing.")]
    many = len(report.runs) > 1
    worst = f"; the {MOMENTS} worst" if len(found) > MOMENTS else ""
    title = heading(f"{_counted(len(found), 'step')} would have missed something{worst}")
    lines = [f"{_where(loss, many)} needed {one_line(loss.need.text, 70)!r}, {loss.words}" for loss in found[:MOMENTS]]
    return [title, fields(("•", said(line)) for line in lines)]


def _where(loss: Loss, many: bool) -> str:
    return f"{one_line(_session(loss.run), 40)} step {loss.step:,}" if many else f"step {loss.step:,}"


def _problems(report: Report) -> list["RenderableType"]:
    if not report.problems:
        return []
    more = len(report.problems) - PROBLEMS
    lines = [said(f"  {problem}", "yellow") for problem in report.problems[:PROBLEMS]]
    return [heading("Could not be read, or was left out"), *lines, *([said(f"  … {more:,} more", "dim")] if more > 0 else [])]


def _recall(recall: Recall) -> "RenderableType":
    from rich.text import Text

    yardstick = (f" ({_percent(recall.window_share)})", "dim") if recall.needed else ""
    return Text.assemble(_percent(recall.share), yardstick)


def _fewer(total: Total) -> str:
    return f"{_percent(total.saving)} fewer" if total.saving > 0 else "no saving, the sessions are short"


def _shortened(total: Total) -> str:
    """An agent that compacts by itself did not send all of its history: then the saving is smaller than it looks."""
    if total.reported >= total.theirs:
        return ""
    saving = 1 - total.ours / total.reported
    against = f"{_percent(saving)} fewer" if saving > 0 else "nothing is saved"
    return f"; less than the whole history, so the agent shortened it: against that {against}"


def _percent(share: float | None) -> str:
    if share is None:
        return "–"
    return f"{share:.1%}" if 0.995 < share < 1 else f"{share:.0%}"


def short(tokens: int) -> str:
    for size, letter in ((1_000_000, "M"), (1_000, "k")):
        if tokens >= size:
            return f"{tokens / size:.1f}{letter}" if tokens < 100 * size else f"{tokens / size:.0f}{letter}"
    return str(tokens)


def _counted(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"
