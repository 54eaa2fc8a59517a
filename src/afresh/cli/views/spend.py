"""What was spent: tables with a bar for each line, gauges for the limits, and whether windows stay flat."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from afresh.app.spend import By, Line, Report, TaskCost, Used
from afresh.cli.views.costs import cost_json, money
from afresh.cli.views.parts import heading, listing, said, word
from afresh.domain.growth import Growth
from afresh.projections.standing import counted, iso

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.measure import Measurement
    from rich.text import Text

GAUGE = 24
WIDEST = 48
MOST_LINES = 40


class Bar:
    """As wide as the terminal lets it be."""

    def __init__(self, share: float, style: str = "cyan") -> None:
        self.share, self.style = min(1.0, max(0.0, share)), style

    def __rich_console__(self, console: "Console", options: "ConsoleOptions") -> Iterator["Text"]:
        yield bar(self.share, min(options.max_width, WIDEST), self.style)

    def __rich_measure__(self, console: "Console", options: "ConsoleOptions") -> "Measurement":
        from rich.measure import Measurement

        return Measurement(4, min(options.max_width, WIDEST))


def bar(share: float, width: int, style: str, rest: bool = False) -> "Text":
    """In halves of a column. What is more than nothing can be seen."""
    from rich.text import Text

    halves = max(1 if share > 0 else 0, round(share * width * 2))
    full, half = divmod(halves, 2)
    text = Text("━" * full + "╸" * half, style=style)
    return text.append("─" * (width - full - half) if rest else "", "dim")


def overview(found: Report) -> "RenderableType":
    """Limits first, then the days as a plot, then the kinds of calls."""
    from rich.console import Group

    parts: list[RenderableType] = [_head(found), *_stopped(found)]
    if found.used:
        parts += [heading("Limits"), _limits(found.used)]
    if found.lines:
        parts += [heading("By day"), _table(found), heading("Context by kind of call"), _kinds(found.kinds)]
    if found.alerts:
        parts += [heading("Latest alerts"), *(said(f"  {iso(at)}  {alert.words}", "yellow") for alert, at in found.alerts)]
    more = "afresh spend --by task, kind, section, model or project; --since all; --all for every project"
    return Group(*parts, said(f"\n{more}", "dim"))


def listed(found: Report) -> "RenderableType":
    from rich.console import Group

    table = _tasks(found) if found.by is By.TASK else _table(found)
    kinds: list[RenderableType] = [heading("Context by kind of call"), _kinds(found.kinds)] if found.by is By.KIND else []
    return Group(_head(found), *_stopped(found), *([heading(f"By {found.by}"), table] if found.lines else []), *kinds)


def _head(found: Report) -> "Text":
    from rich.text import Text

    where = "here" if found.which.project else "in all projects"
    when = f"since {iso(found.which.since)[:16].replace('T', ' ')}" if found.which.since else "in all"
    if not found.whole.calls:
        return Text(f"No call of a model {where} {when}.")
    one = found.whole
    cached = f" ({one.cached / one.input:.0%} from the cache)" if one.cached and one.input else ""
    text = Text.assemble((f"{money(one)} ", "bold"), f"{where} {when}: {counted(one.calls, 'call')}, ")
    text.append(f"{short(one.input)} tokens in{cached}, {short(one.output)} out")
    if one.unknown:
        text.append(f"\nThe price of {counted(one.unknown, 'call')} is unknown: ", "yellow").append("afresh models", "cyan")
        text.append(" tells which; they count as nothing.", "yellow")
    if one.odd:
        text.append(f"\nOf {counted(one.odd, 'call')} the usage is missing, odd or was never reported.", "yellow")
    return text


def _stopped(found: Report) -> list["Text"]:
    rows: list[Text] = []
    for one in found.breakers:
        scope, _, task = one.limit.scope.value, *one.key.partition("/")[1:]
        command = f"afresh spend reset {scope}" + (f" {task}" if task else "")
        rows.append(said(f"\nSTOPPED since {iso(one.at)[:16]}: {one.words}. ", "bold red").append(command, "not bold cyan"))
    return rows


def _limits(used: Sequence[Used]) -> "RenderableType":
    from rich.table import Table

    grid = Table.grid(padding=(0, 2))
    for one in used:
        share = one.spent / one.limit.most if one.limit.most else 1.0
        style = "red" if one.tripped or share >= 1 else "yellow" if share >= 0.8 else "green"
        words = f"{one.limit.unit.words(one.spent).removesuffix(' tokens')} of {one.limit.unit.words(one.limit.most)}"
        label = f"  {one.limit.scope}" + ("" if one.limit.own else " (default)")
        grid.add_row(said(label, "dim"), bar(min(1.0, share), GAUGE, style, rest=True), words, said(f"{share:.0%}", style))
    return grid


def _table(found: Report) -> "RenderableType":
    """The last lines if there are too many: of days these are the latest, of the rest the dearest come first."""
    table = listing(found.by.value, ">calls", ">in", ">cached", ">out", ">spent", "")
    table.expand = True
    table.columns[-1].ratio = 1
    shown = found.lines[-MOST_LINES:] if found.by is By.DAY else found.lines[:MOST_LINES]
    weigh = _weight(found.lines)
    most = max((weigh(line) for line in shown), default=0) or 1
    for line in shown:
        cached = f"{line.cached / line.input:.0%}" if line.cached and line.input else ""
        table.add_row(
            said(line.name, limit=40), f"{line.calls:,}", short(line.input) if line.input else "", cached,
            short(line.output) if line.output else "", money(line), Bar(weigh(line) / most),
        )  # fmt: skip
    return table


def _tasks(found: Report) -> "RenderableType":
    table = listing("task", ">steps", ">calls", ">in", ">out", ">saved", ">spent", "")
    table.expand = True
    table.columns[-1].ratio = 1
    weigh = _weight(found.lines)
    most = max((weigh(line) for line in found.lines), default=0) or 1
    for line in found.lines[:MOST_LINES]:
        cost = found.tasks.get(line.name)
        steps = f"{cost.steps}/{cost.allowed}" if cost and cost.allowed else f"{cost.steps}" if cost else ""
        saved = share_saved(cost)
        name = said(line.name, limit=36)
        name = name.append(f" {cost.status}", word(cost.status).style) if cost else name
        table.add_row(
            name, steps, f"{line.calls:,}", short(line.input),
            short(line.output), "" if saved is None else f"{saved:.0%}", money(line), Bar(weigh(line) / most),
        )  # fmt: skip
    table.caption = "steps: of those it may take; saved: tokens that a history kept whole would have sent more"
    return table


def _kinds(kinds: Mapping[str, Growth]) -> "RenderableType":
    table = listing("kind", ">calls", ">average context", ">growth in 100 steps")
    for kind, one in kinds.items():
        share = one.slope / one.average if one.slope is not None and one.average else 0.0
        slope = "" if one.slope is None else f"{one.slope:+,.0f} tokens ({share:+.1%})"
        table.add_row(kind, f"{one.calls:,}", f"{one.average:,} tokens", said(slope, "green" if share < 0.05 else "yellow"))
    return table


def _weight(lines: Sequence[Line]) -> "Any":
    """By money where any was paid, otherwise by tokens."""
    paid = any(line.money for line in lines)
    return lambda line: line.money if paid else line.input + line.output


def report_json(found: Report) -> dict[str, Any]:
    return {
        "by": found.by.value,
        "since": iso(found.which.since) if found.which.since else None,
        "lines": [{"name": line.name} | cost_json(line) | _task_json(found.tasks.get(line.name)) for line in found.lines],
        "whole": cost_json(found.whole),
        "limits": [
            {"limit": one.limit.key, "most": one.limit.most, "spent": one.spent, "unit": one.limit.unit.value,
             "set_by_user": one.limit.own, "tripped": one.tripped}
            for one in found.used
        ],
        "stopped": [
            {"limit": one.limit.key, "key": one.key, "most": one.limit.most, "spent": one.spent, "at": iso(one.at)}
            for one in found.breakers
        ],
        "alerts": [
            {"limit": alert.limit.key, "key": alert.key, "percent": alert.percent, "spent": alert.spent, "at": iso(at)}
            for alert, at in found.alerts
        ],
        "kinds": {
            kind: {"calls": one.calls, "average": one.average, "per_100_steps": one.slope} for kind, one in found.kinds.items()
        },
    }  # fmt: skip


def _task_json(cost: TaskCost | None) -> dict[str, Any]:
    if cost is None:
        return {}
    return {
        "steps": cost.steps, "max_steps": cost.allowed, "contexts": cost.contexts, "sent": cost.sent,
        "accumulating": cost.accumulating, "saved": share_saved(cost), "status": cost.status.value,
    }  # fmt: skip


def share_saved(cost: TaskCost | None) -> float | None:
    """Of what a history kept whole would have sent."""
    return 1 - cost.sent / cost.accumulating if cost and cost.accumulating else None


def short(tokens: int) -> str:
    if tokens < 10_000:
        return f"{tokens:,}"
    return f"{tokens / 1_000:,.1f} k" if tokens < 1_000_000 else f"{tokens / 1_000_000:,.2f} M"
