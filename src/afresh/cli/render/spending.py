"""Renders spending: tables with bars, gauges for limits, and the growth of prompts."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from afresh.app.spending.read_spending import LimitUse, cost_to_json, describe_money
from afresh.app.spending.spending_report import SpendingReport, TaskCost
from afresh.cli.render.parts import make_table, render_heading, render_text, render_word
from afresh.core.text import format_count
from afresh.spending.reports import SpendingGroup, SpendingLine
from afresh.views.model_calls import TokenGrowth, history_to_json
from afresh.views.period_report import PeriodReport, format_period, list_report_rows
from afresh.views.task_facts import format_time

GAUGE_COLUMNS = 24
MAX_BAR_COLUMNS = 48
MAX_TABLE_LINES = 40


class ShareBar:
    """A bar that fills the available width."""

    def __init__(self, share: float) -> None:
        self.share = min(1.0, max(0.0, share))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        yield draw_bar(self.share, min(options.max_width, MAX_BAR_COLUMNS), "cyan")

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:

        return Measurement(4, min(options.max_width, MAX_BAR_COLUMNS))


def draw_bar(share: float, width: int, style: str, rest: bool = False) -> Text:
    """Draw a bar in half columns; any positive share is visible."""
    halves = max(1 if share > 0 else 0, round(share * width * 2))
    full, half = divmod(halves, 2)
    text = Text("━" * full + "╸" * half, style=style)
    return text.append("─" * (width - full - half) if rest else "", "dim")


def render_spending_overview(found: SpendingReport) -> RenderableType:
    """Render limits, then days as a plot, then purposes of calls."""
    parts: list[RenderableType] = [_render_spending_head(found), *_render_stopped_limits(found)]
    if found.used:
        parts += [render_heading("Limits"), _render_limits(found.used)]
    if found.lines:
        parts += [
            render_heading("By day"),
            _make_spending_table(found),
            render_heading("Context by kind of call"),
            _make_kind_table(found.kinds),
        ]
    alerts = [(at, alert.words) for alert, at in found.alerts] + [(one.at, one.words) for one in found.context_alerts]
    if alerts:
        parts += [
            render_heading("Latest alerts"),
            *(render_text(f"  {format_time(at)}  {words}", "yellow") for at, words in sorted(alerts, reverse=True)),
        ]
    more = "afresh spend --by task, kind, section, model or project; --since all; --all for every project"
    return Group(*parts, render_text(f"\n{more}", "dim"))


def render_spending_table(found: SpendingReport) -> RenderableType:
    table = _make_task_table(found) if found.by is SpendingGroup.TASK else _make_spending_table(found)
    kinds: list[RenderableType] = (
        [render_heading("Context by kind of call"), _make_kind_table(found.kinds)] if found.by is SpendingGroup.KIND else []
    )
    return Group(
        _render_spending_head(found),
        *_render_stopped_limits(found),
        *([render_heading(f"By {found.by}"), table] if found.lines else []),
        *kinds,
    )


def _render_spending_head(found: SpendingReport) -> Text:
    where = "here" if found.which.project else "in all projects"
    when = f"since {format_time(found.which.since)[:16].replace('T', ' ')}" if found.which.since else "in total"
    if not found.whole.calls:
        return Text(f"No model calls {where} {when}.")
    one = found.whole
    text = Text.assemble((f"{describe_money(one)} ", "bold"), f"{where} {when}: {format_count(one.calls, 'call')}, ")
    text.append(f"{shorten_tokens(one.input)} tokens sent ({_shorten_paid(one)} paid), {shorten_tokens(one.output)} received")
    if one.unpriced.calls:
        what = f"{format_count(one.unpriced.calls, 'call')}, {one.unpriced.tokens:,} tokens"
        text.append(f"\nNo price known for {what}: limits of tokens apply to them. ", "yellow")
        text.append("afresh models", "cyan").append(" shows which.", "yellow")
    if one.odd:
        text.append(f"\nUsage is missing or implausible for {format_count(one.odd, 'call')}.", "yellow")
    return text


def _render_stopped_limits(found: SpendingReport) -> list[Text]:
    rows: list[Text] = []
    for one in found.breakers:
        scope, _, task = one.limit.scope.value, *one.key.partition("/")[1:]
        command = f"afresh spend --reset {scope}" + (f" {task}" if task else "")
        rows.append(
            render_text(f"\nSTOPPED since {format_time(one.at)[:16]}: {one.words}. ", "bold red").append(command, "not bold cyan")
        )
    return rows


def _render_limits(used: Sequence[LimitUse]) -> RenderableType:
    grid = Table.grid(padding=(0, 2))
    for one in used:
        share = one.spent / one.limit.most if one.limit.most else 1.0
        style = "red" if one.tripped or share >= 1 else "yellow" if share >= 0.8 else "green"
        words = f"{_describe_used(one)} of {one.limit.unit.words(one.limit.most)}"
        label = f"  {one.limit.scope}" + ("" if one.limit.own else " (default)")
        grid.add_row(
            render_text(label, "dim"),
            draw_bar(min(1.0, share), GAUGE_COLUMNS, style, rest=True),
            words,
            render_text("" if one.unpriced and not one.spent else f"{share:.0%}", style),
        )
    return grid


def _describe_used(one: LimitUse) -> str:
    """Describe what was used of a limit; a call whose price is unknown is not shown as $0."""
    if one.unpriced:
        known = f"{one.limit.unit.words(one.spent)} + " if one.spent else ""
        return f"{known}unknown ({one.unpriced:,} tokens)"
    return one.limit.unit.words(one.spent).partition(" tokens")[0]


def _make_spending_table(found: SpendingReport) -> RenderableType:
    """Keep the last lines if there are too many: the latest days, otherwise the most expensive lines."""
    paid = "" if found.by is SpendingGroup.SECTION else ">paid|"
    table = make_table(f"{found.by.value}|>calls|>sent|{paid}>received|>spent|")
    table.expand = True
    table.columns[-1].ratio = 1
    shown = found.lines[-MAX_TABLE_LINES:] if found.by is SpendingGroup.DAY else found.lines[:MAX_TABLE_LINES]
    weigh = _choose_weight(found.lines)
    most = max((weigh(line) for line in shown), default=0) or 1
    for line in shown:
        table.add_row(
            render_text(_name_line(found, line), limit=40), f"{line.calls:,}", shorten_tokens(line.input) if line.input else "",
            *([_shorten_paid(line)] if paid else []),
            shorten_tokens(line.output) if line.output else "", describe_money(line), ShareBar(weigh(line) / most),
        )  # fmt: skip
    table.caption = PAID_CAPTION if paid else None
    return table


KIND_WORDS = {
    "work": "steps", "summary": "summaries", "heartbeat": "heartbeats", "check": "models check", "memory": "lessons",
    "delegate": "subtasks", "review": "reviews of changed tests",
}  # fmt: skip


def _name_line(found: SpendingReport, line: SpendingLine) -> str:
    return KIND_WORDS.get(line.name, line.name) if found.by is SpendingGroup.KIND else line.name


PAID_CAPTION = "paid: sent tokens weighed by price, since cached ones cost less; ~ estimated"


def _shorten_paid(line: SpendingLine) -> str:
    return f"{'~' if line.estimated else ''}{shorten_tokens(line.paid)}" if line.paid else ""


def _make_task_table(found: SpendingReport) -> RenderableType:
    table = make_table("task|>steps|>calls|>sent|>saved|>paid|>saved|>spent")
    for line in found.lines[:MAX_TABLE_LINES]:
        cost = found.tasks.get(line.name)
        steps = f"{cost.steps}/{cost.allowed}" if cost and cost.allowed else f"{cost.steps}" if cost else ""
        saved, saved_paid = (cost.tokens.saved, cost.tokens.saved_paid) if cost else (None, None)
        name = render_text(line.name, limit=36)
        name = name.append(f" {cost.status}", render_word(cost.status).style) if cost else name
        table.add_row(
            name,
            steps,
            f"{line.calls:,}",
            shorten_tokens(line.input),
            _render_saved(saved),
            _shorten_paid(line),
            _render_saved(saved_paid),
            describe_money(line),
        )
    table.caption = f"{PAID_CAPTION}\nsteps: used/allowed; saved: compared with keeping the whole history, nearly all cached"
    return table


def _render_saved(share: float | None) -> Text:
    """Render a saving; one below 0 is a loss."""
    return render_text("" if share is None else f"{share:.0%}", "yellow" if share is not None and share < 0 else "")


def _make_kind_table(kinds: Mapping[str, TokenGrowth]) -> RenderableType:
    table = make_table("kind|>calls|>average context|>growth per 100 steps")
    for kind, one in kinds.items():
        share = one.slope / one.average if one.slope is not None and one.average else 0.0
        slope = "" if one.slope is None else f"{one.slope:+,.0f} tokens ({share:+.1%})"
        table.add_row(
            KIND_WORDS.get(kind, kind),
            f"{one.calls:,}",
            f"{one.average:,} tokens",
            render_text(slope, "green" if share < 0.05 else "yellow"),
        )
    return table


def _choose_weight(lines: Sequence[SpendingLine]) -> Any:
    """Compare by money if anything was paid, otherwise by tokens."""
    paid = any(line.money for line in lines)
    return lambda line: line.money if paid else line.input + line.output


def spending_to_json(found: SpendingReport) -> dict[str, Any]:
    return {
        "by": found.by.value,
        "since": format_time(found.which.since) if found.which.since else None,
        "lines": [
            {"name": line.name} | cost_to_json(line) | _task_cost_to_json(found.tasks.get(line.name)) for line in found.lines
        ],
        "whole": cost_to_json(found.whole),
        "limits": [
            {
                "limit": one.limit.key,
                "most": one.limit.most,
                "spent": one.spent,
                "unit": one.limit.unit.value,
                "set_by_user": one.limit.own,
                "tripped": one.tripped,
                "unpriced_tokens": one.unpriced,
            }
            for one in found.used
        ],
        "stopped": [
            {"limit": one.limit.key, "key": one.key, "most": one.limit.most, "spent": one.spent, "at": format_time(one.at)}
            for one in found.breakers
        ],
        "alerts": [
            {"limit": alert.limit.key, "key": alert.key, "percent": alert.percent, "spent": alert.spent, "at": format_time(at)}
            for alert, at in found.alerts
        ],
        "context_alerts": [{"task": one.task, "words": one.words, "at": format_time(one.at)} for one in found.context_alerts],
        "kinds": {
            kind: {"calls": one.calls, "average": one.average, "per_100_steps": one.slope} for kind, one in found.kinds.items()
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


def render_period_report(report: PeriodReport) -> RenderableType:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("")
    for name in ("this week", "week before", "trend"):
        table.add_column(name, justify="right", header_style="dim")
    for row in list_report_rows(report):
        table.add_row(row.name, Text(row.now, "bold"), row.before, row.trend)
    head = Text.assemble((report.project, "bold"), f": {format_period(report.now)}, beside {format_period(report.before)}\n")
    alerts = [render_heading("Alerts"), *(render_text(f"  {one}", "yellow") for one in report.alerts)] if report.alerts else []
    return Group(head, table, *alerts)
