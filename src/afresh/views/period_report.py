"""The report of a week as plain data: its figures beside those of the week before, as rows, Markdown and JSON."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from afresh.core.task import TaskStatus
from afresh.core.text import format_count
from afresh.core.usage import format_dollars
from afresh.views.markdown import escape_inline
from afresh.views.model_calls import SLOPE_STEPS, TokenGrowth
from afresh.views.run_figures import RunFigures
from afresh.views.task_facts import format_share

VERIFIED_STATUSES = (TaskStatus.DONE, TaskStatus.APPLIED)
NO_FIGURE = "–"
MAX_ALERT_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class PeriodFigures:
    since: float
    until: float
    work: TokenGrowth
    """Growth of the calls for work on tasks."""
    calls: int
    """Calls of all kinds."""
    sent: int
    received: int
    """Tokens, of calls of all kinds."""
    money: int
    """Nano-dollars."""
    unpriced: int
    """Calls whose price is unknown."""
    runs: tuple[RunFigures, ...]
    """Figures of the tasks with events in the period."""

    @property
    def verified(self) -> int:
        return self._count_ended(*VERIFIED_STATUSES)

    @property
    def failed(self) -> int:
        return self._count_ended(TaskStatus.FAILED)

    @property
    def asked(self) -> int:
        return sum(run.asked for run in self.runs)

    @property
    def tokens_per_call(self) -> float | None:
        return self.sent / self.calls if self.calls else None

    @property
    def window_shares(self) -> tuple[float, ...]:
        return tuple(share for run in self.runs for share in run.window_shares)

    @property
    def resume_success(self) -> float | None:
        resumes = sum(run.resumes for run in self.runs)
        return sum(run.resumed for run in self.runs) / resumes if resumes else None

    @property
    def contexts_per_task(self) -> float | None:
        finished = self._list_finished()
        return sum(run.contexts for run in finished) / len(finished) if finished else None

    @property
    def one_context(self) -> float | None:
        """Share of the finished tasks that took fewer than two contexts."""
        finished = self._list_finished()
        return sum(run.contexts < 2 for run in finished) / len(finished) if finished else None

    def _list_finished(self) -> list[RunFigures]:
        return [run for run in self.runs if run.ended is not None and run.ended.over and run.contexts]

    def _count_ended(self, *statuses: TaskStatus) -> int:
        return sum(run.ended in statuses for run in self.runs)


@dataclass(frozen=True, slots=True)
class PeriodReport:
    project: str
    now: PeriodFigures
    before: PeriodFigures
    alerts: tuple[str, ...] = ()
    """Alerts of limits and large prompts in this period."""


@dataclass(frozen=True, slots=True)
class ReportRow:
    name: str
    now: str
    before: str
    trend: str
    """The change in words that need no colour: +12 %, –3 points."""


def list_report_rows(report: PeriodReport) -> list[ReportRow]:
    now, before = report.now, report.before
    return [
        ReportRow("tokens sent per call", *_format_averages(now, before)),
        ReportRow("of the model's window", _format_window_shares(now), _format_window_shares(before), ""),
        ReportRow(f"growth in {SLOPE_STEPS} steps", _format_slope(now.work), _format_slope(before.work), ""),
        _make_share_row("resumes that went on", now.resume_success, before.resume_success),
        _make_share_row("tasks in one context", now.one_context, before.one_context),
        ReportRow("contexts per task", _format_mean(now.contexts_per_task), _format_mean(before.contexts_per_task), ""),
        _make_row("tasks verified", now.verified, before.verified),
        _make_row("tasks failed", now.failed, before.failed),
        _make_row("tasks that asked", now.asked, before.asked),
        _make_row("model calls", now.calls, before.calls),
        _make_row("tokens sent", now.sent, before.sent),
        _make_row("tokens received", now.received, before.received),
        ReportRow("spent", _format_money(now), _format_money(before), _format_trend(now.money, before.money)),
    ]


def _format_averages(now: PeriodFigures, before: PeriodFigures) -> tuple[str, str, str]:
    here, then = now.tokens_per_call, before.tokens_per_call
    shown = [NO_FIGURE if one is None else f"{one:,.0f}" for one in (here, then)]
    return shown[0], shown[1], _format_trend(round(here or 0), round(then or 0)) if here else ""


def _format_window_shares(figures: PeriodFigures) -> str:
    """Share of the window that a call took, on average and at most."""
    shares = figures.window_shares
    return f"{format_share(sum(shares) / len(shares))}, at most {format_share(max(shares))}" if shares else NO_FIGURE


def _make_row(name: str, now: int, before: int) -> ReportRow:
    return ReportRow(name, f"{now:,}", f"{before:,}", _format_trend(now, before))


def _make_share_row(name: str, now: float | None, before: float | None) -> ReportRow:
    points = round(100 * (now - before)) if now is not None and before is not None else 0
    return ReportRow(name, _format_share(now), _format_share(before), f"{points:+} points" if points else "")


def _format_trend(now: int, before: int) -> str:
    percent = round(100 * (now - before) / before) if before else 0
    return f"{percent:+,} %" if percent else ""


def _format_slope(growth: TokenGrowth) -> str:
    return NO_FIGURE if growth.slope is None else f"{growth.slope:+,.0f} tokens"


def _format_share(share: float | None) -> str:
    return NO_FIGURE if share is None else f"{share:.0%}"


def _format_mean(mean: float | None) -> str:
    return NO_FIGURE if mean is None else f"{mean:.1f}"


def _format_money(figures: PeriodFigures) -> str:
    return format_dollars(figures.money) + (
        f" and {format_count(figures.unpriced, 'call')} of unknown price" if figures.unpriced else ""
    )


def format_period(figures: PeriodFigures) -> str:
    """From the first to the last day, both included."""
    first, last = (time.strftime("%Y-%m-%d", time.localtime(at)) for at in (figures.since, figures.until - 1))
    return f"{first} to {last}"


def summarise_report(report: PeriodReport) -> str:
    """One line, for an announcement."""
    now = report.now
    done = f"{now.verified:,} verified, {now.failed:,} failed, {now.asked:,} asked"
    resumed = f", {_format_share(now.resume_success)} of resumes went on" if now.resume_success is not None else ""
    alerts = f", {format_count(len(report.alerts), 'alert')}" if report.alerts else ""
    calls = f"{format_count(now.calls, 'call')}, {now.tokens_per_call or 0:,.0f} tokens sent per call"
    return f"{report.project}, {format_period(now)}: {done}; {calls}, {_format_money(now)}{resumed}{alerts}"


def report_to_markdown(report: PeriodReport) -> str:
    rows = [f"| {row.name} | {row.now} | {row.before} | {row.trend} |" for row in list_report_rows(report)]
    alerts = ["", "## Alerts", "", *(f"- {escape_inline(alert, MAX_ALERT_CHARACTERS)}" for alert in report.alerts)]
    return "\n".join(
        [
            f"# {escape_inline(report.project, 80)}: {format_period(report.now)}",
            "",
            f"| | {format_period(report.now)} | {format_period(report.before)} | trend |",
            "|---|---:|---:|---:|",
            *rows,
            *(alerts if report.alerts else []),
            "",
        ]
    )


def report_to_json(report: PeriodReport) -> dict[str, Any]:
    return {
        "project": report.project,
        "now": _figures_to_json(report.now),
        "before": _figures_to_json(report.before),
        "alerts": list(report.alerts),
    }


def _figures_to_json(figures: PeriodFigures) -> dict[str, Any]:
    return {
        "since": figures.since,
        "until": figures.until,
        "tokens_per_call": None if figures.tokens_per_call is None else round(figures.tokens_per_call),
        "window_share": sum(figures.window_shares) / len(figures.window_shares) if figures.window_shares else None,
        "largest_window_share": max(figures.window_shares, default=None),
        "growth_per_100_steps": figures.work.slope,
        "resumes": sum(run.resumes for run in figures.runs),
        "resume_success": figures.resume_success,
        "contexts_per_task": figures.contexts_per_task,
        "one_context": figures.one_context,
        "verified": figures.verified,
        "failed": figures.failed,
        "asked": figures.asked,
        "calls": figures.calls,
        "sent": figures.sent,
        "received": figures.received,
        "nano_dollars": figures.money,
        "unpriced_calls": figures.unpriced,
    }


def list_alert_lines(alerts: Sequence[tuple[float, str]]) -> tuple[str, ...]:
    """The alerts in their order, each with its day."""
    return tuple(f"{time.strftime('%Y-%m-%d %H:%M', time.localtime(at))} {words}" for at, words in sorted(alerts))
