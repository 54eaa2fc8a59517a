"""Spending: limits with gauges, tables with bars, the growth of prompts, and a week beside the one before."""

from collections.abc import Mapping, Sequence
from typing import Any

from afresh.app.spending.read_spending import LimitUse, cost_to_json, describe_money
from afresh.app.spending.spending_report import SpendingReport, TaskCost
from afresh.cli.render.widgets import WORD_STYLES
from afresh.core.text import format_count
from afresh.core.truncate import to_one_line
from afresh.spending.reports import SpendingGroup, SpendingLine
from afresh.views.model_calls import TokenGrowth, history_to_json
from afresh.views.page import Block, Heading, Line, Page, Span, Table
from afresh.views.period_report import PeriodReport, format_period, list_report_rows, report_to_json
from afresh.views.task_facts import format_time

GAUGE_COLUMNS = 24
BAR_COLUMNS = 16
MAX_TABLE_LINES = 40
PAID_CAPTION = "paid: sent tokens weighed by price, since cached ones cost less; ~ estimated"
KIND_WORDS = {
    "work": "steps", "summary": "summaries", "heartbeat": "heartbeats", "check": "models check", "memory": "lessons",
    "delegate": "subtasks", "review": "reviews of changed tests",
}  # fmt: skip


def build_spending(report: SpendingReport, is_overview: bool) -> Page:
    """Build the overview: limits, days, kinds of calls and alerts; or one table."""
    blocks: list[Block] = [_describe_whole(report), *map(_describe_stopped_limit, report.breakers)]
    if is_overview and report.used:
        blocks += [Heading("Limits"), Table("|||", [*map(_list_limit_cells, report.used)])]
    if report.lines:
        table = _make_task_table(report) if report.by is SpendingGroup.TASK else _make_spending_table(report)
        blocks += [Heading(f"By {report.by}"), table]
    if (is_overview and report.lines) or report.by is SpendingGroup.KIND:
        blocks += [Heading("Context by kind of call"), _make_kind_table(report.kinds)]
    if is_overview:
        alerts = [(at, alert.words) for alert, at in report.alerts] + [(alert.at, alert.words) for alert in report.context_alerts]
        lines: list[Block] = [[(f"  {format_time(at)}  {words}", "yellow")] for at, words in sorted(alerts, reverse=True)]
        blocks += [Heading("Latest alerts"), *lines] if lines else []
        more = "afresh spend --by task, kind, section, model or project; --since all; --all for every project"
        blocks.append([(f"\n{more}", "dim")])
    return Page(spending_to_json(report), blocks)


def _describe_whole(report: SpendingReport) -> Line:
    where, whole = "here" if report.which.project else "in all projects", report.whole
    when = f"since {format_time(report.which.since)[:16].replace('T', ' ')}" if report.which.since else "in total"
    if not whole.calls:
        return f"No model calls {where} {when}."
    sent = f"{shorten_tokens(whole.input)} tokens sent ({_shorten_paid(whole)} paid), {shorten_tokens(whole.output)} received"
    line: list[Span] = [
        (f"{describe_money(whole)} ", "bold"),
        (f"{where} {when}: {format_count(whole.calls, 'call')}, {sent}", ""),
    ]
    if whole.unpriced.calls:
        what = f"{format_count(whole.unpriced.calls, 'call')}, {whole.unpriced.tokens:,} tokens"
        line.append((f"\nNo price known for {what}: limits of tokens apply to them. ", "yellow"))
        line += [("afresh models", "cyan"), (" shows which.", "yellow")]
    if whole.odd:
        line.append((f"\nUsage is missing or implausible for {format_count(whole.odd, 'call')}.", "yellow"))
    return line


def _describe_stopped_limit(value: Any) -> Line:
    scope, task = value.limit.scope.value, value.key.partition("/")[2]
    command = f"afresh spend --reset {scope}" + (f" {task}" if task else "")
    return [(f"\nSTOPPED since {format_time(value.at)[:16]}: {value.words}. ", "bold red"), (command, "cyan")]


def draw_bar(share: float, width: int, style: str) -> list[Span]:
    """Draw a bar in half columns; any positive share is visible."""
    halves = max(1 if share > 0 else 0, round(min(1.0, share) * width * 2))
    full, half = divmod(halves, 2)
    return [("━" * full + "╸" * half, style), ("─" * (width - full - half), "dim")]


def _list_limit_cells(limit_use: LimitUse) -> list[Line]:
    share = limit_use.spent / limit_use.limit.most if limit_use.limit.most else 1.0
    style = "red" if limit_use.tripped or share >= 1 else "yellow" if share >= 0.8 else "green"
    used = limit_use.limit.unit.words(limit_use.spent).partition(" tokens")[0]
    if limit_use.unpriced:  # a call whose price is unknown is not shown as $0
        known = f"{limit_use.limit.unit.words(limit_use.spent)} + " if limit_use.spent else ""
        used = f"{known}unknown ({limit_use.unpriced:,} tokens)"
    return [
        [(f"  {limit_use.limit.scope}" + ("" if limit_use.limit.own else " (default)"), "dim")],
        draw_bar(share, GAUGE_COLUMNS, style),
        f"{used} of {limit_use.limit.unit.words(limit_use.limit.most)}",
        [("" if limit_use.unpriced and not limit_use.spent else f"{share:.0%}", style)],
    ]


def _make_spending_table(report: SpendingReport) -> Table:
    """Keep the last lines if there are too many: the latest days, otherwise the most expensive lines."""
    has_paid, lines = report.by is not SpendingGroup.SECTION, report.lines
    shown = lines[-MAX_TABLE_LINES:] if report.by is SpendingGroup.DAY else lines[:MAX_TABLE_LINES]
    weights = [line.money if any(spending_line.money for spending_line in lines) else line.input + line.output for line in shown]
    rows = [
        [
            to_one_line(KIND_WORDS.get(line.name, line.name) if report.by is SpendingGroup.KIND else line.name, 40),
            f"{line.calls:,}", shorten_tokens(line.input) if line.input else "", *([_shorten_paid(line)] if has_paid else []),
            shorten_tokens(line.output) if line.output else "", describe_money(line),
            draw_bar(weight / (max(weights) or 1), BAR_COLUMNS, "cyan")[:1],
        ]
        for line, weight in zip(shown, weights, strict=True)
    ]  # fmt: skip
    columns = f"{report.by.value}|>calls|>sent|{'>paid|' if has_paid else ''}>received|>spent|"
    return Table(columns, rows, PAID_CAPTION if has_paid else "")


def _shorten_paid(line: SpendingLine) -> str:
    return f"{'~' if line.estimated else ''}{shorten_tokens(line.paid)}" if line.paid else ""


def _make_task_table(report: SpendingReport) -> Table:
    rows = [_list_task_cells(line, report.tasks.get(line.name)) for line in report.lines[:MAX_TABLE_LINES]]
    caption = f"{PAID_CAPTION}\nsteps: used/allowed; saved: compared with keeping the whole history, nearly all cached"
    return Table("task|>steps|>calls|>sent|>saved|>paid|>saved|>spent", rows, caption)


def _list_task_cells(line: SpendingLine, cost: TaskCost | None) -> list[Line]:
    steps = f"{cost.steps}/{cost.allowed}" if cost and cost.allowed else f"{cost.steps}" if cost else ""
    shares = (cost.tokens.saved, cost.tokens.saved_paid) if cost else (None, None)
    saved = [[("" if share is None else f"{share:.0%}", "yellow" if share is not None and share < 0 else "")] for share in shares]
    status = [(f" {cost.status}", WORD_STYLES.get(cost.status, "dim"))] if cost else []
    name = [(to_one_line(line.name, 36), ""), *status]
    paid = _shorten_paid(line)
    return [name, steps, f"{line.calls:,}", shorten_tokens(line.input), saved[0], paid, saved[1], describe_money(line)]


def _make_kind_table(kinds: Mapping[str, TokenGrowth]) -> Table:
    rows: list[Sequence[Line]] = []
    for kind, token_growth in kinds.items():
        share = token_growth.slope / token_growth.average if token_growth.slope is not None and token_growth.average else 0.0
        slope = "" if token_growth.slope is None else f"{token_growth.slope:+,.0f} tokens ({share:+.1%})"
        growth = [(slope, "green" if share < 0.05 else "yellow")]
        rows.append([KIND_WORDS.get(kind, kind), f"{token_growth.calls:,}", f"{token_growth.average:,} tokens", growth])
    return Table("kind|>calls|>average context|>growth per 100 steps", rows)


def spending_to_json(report: SpendingReport) -> dict[str, Any]:
    return {
        "by": report.by.value,
        "since": format_time(report.which.since) if report.which.since else None,
        "lines": [
            {"name": line.name} | cost_to_json(line) | _task_cost_to_json(report.tasks.get(line.name)) for line in report.lines
        ],
        "whole": cost_to_json(report.whole),
        "limits": [
            {
                "limit": limit_use.limit.key,
                "most": limit_use.limit.most,
                "spent": limit_use.spent,
                "unit": limit_use.limit.unit.value,
                "set_by_user": limit_use.limit.own,
                "tripped": limit_use.tripped,
                "unpriced_tokens": limit_use.unpriced,
            }
            for limit_use in report.used
        ],
        "stopped": [
            {
                "limit": breaker.limit.key,
                "key": breaker.key,
                "most": breaker.limit.most,
                "spent": breaker.spent,
                "at": format_time(breaker.at),
            }
            for breaker in report.breakers
        ],
        "alerts": [
            {"limit": alert.limit.key, "key": alert.key, "percent": alert.percent, "spent": alert.spent, "at": format_time(at)}
            for alert, at in report.alerts
        ],
        "context_alerts": [
            {"task": alert.task, "words": alert.words, "at": format_time(alert.at)} for alert in report.context_alerts
        ],
        "kinds": {
            kind: {"calls": growth.calls, "average": growth.average, "per_100_steps": growth.slope}
            for kind, growth in report.kinds.items()
        },
    }


def _task_cost_to_json(cost: TaskCost | None) -> dict[str, Any]:
    if cost is None:
        return {}
    return {
        "steps": cost.steps,
        "max_steps": cost.allowed,
        "contexts": cost.tokens.calls,
        **history_to_json(cost.tokens),
        "status": cost.status.value,
    }


def shorten_tokens(tokens: int) -> str:
    if tokens < 10_000:
        return f"{tokens:,}"
    return f"{tokens / 1_000:,.1f} k" if tokens < 1_000_000 else f"{tokens / 1_000_000:,.2f} M"


def build_period_report(report: PeriodReport) -> Page:
    rows = [[row.name, [(row.now, "bold")], row.before, row.trend] for row in list_report_rows(report)]
    head = [(report.project, "bold"), (f": {format_period(report.now)}, beside {format_period(report.before)}\n", "")]
    alerts: list[Block] = [Heading("Alerts"), *([(f"  {alert}", "yellow")] for alert in report.alerts)] if report.alerts else []
    return Page(report_to_json(report), [head, Table("|>this week|>week before|>trend", rows), *alerts])
