"""`afresh spend`: shows spending against the limits and beside the week before, and resets a limit."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from afresh.cli.options import json_option, open_current_project
from afresh.cli.output import print_json, print_rendered

if TYPE_CHECKING:
    from rich.console import RenderableType

    from afresh.views.period_report import PeriodReport

SPENDING_GROUPS = ("day", "task", "kind", "section", "model", "project")
LIMIT_SCOPES = ("day", "month", "total", "project", "task", "call")


@click.group(invoke_without_command=True)
@click.option("--by", type=click.Choice(SPENDING_GROUPS), default=None, help="Group by this (default: an overview).")
@click.option("--since", default="30d", show_default=True, metavar="WHEN", help="24h, 7d, 2w, today, all or a date.")
@click.option("--all", "-a", "everywhere", is_flag=True, help="Include all projects.")
@click.option("--week", is_flag=True, help="Show the last seven days beside those before: sizes, tasks, resumes, spending.")
@click.option(
    "--write", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="With --week: write it as Markdown."
)
@json_option
@click.pass_context
def command(
    context: click.Context, by: str | None, since: str, everywhere: bool, week: bool, write: Path | None, as_json: bool
) -> None:
    """Show what model calls have cost in tokens and money."""
    if context.invoked_subcommand:
        return None
    if week or write:
        return show_week(write, as_json)
    from afresh.app.spending import spending_report as spend
    from afresh.app.spending.spending_ledger import open_ledger_at
    from afresh.cli.render import spending as views

    own = open_ledger_at(Path.cwd())
    found = spend.report_spending(
        own, spend.SpendingGroup(by or "day"), spend.parse_since(since, own.now), everywhere or by == "project"
    )
    if as_json:
        return print_json(views.spending_to_json(found))
    return print_rendered(views.render_spending_overview(found) if by is None else views.render_spending_table(found))


@command.command()
@click.argument("scope", type=click.Choice(LIMIT_SCOPES))
@click.argument("task", required=False)
@json_option
def reset(scope: str, task: str | None, as_json: bool) -> None:
    """Start counting again for the limit of SCOPE."""
    from afresh.app.spending.spending_ledger import open_ledger_at
    from afresh.app.spending.spending_report import reset_limit
    from afresh.core.spending import LimitScope

    ended = reset_limit(open_ledger_at(Path.cwd()), LimitScope(scope), task)
    if as_json:
        return print_json({"scope": scope, "unblocked": [breaker.words for breaker in ended]})
    for breaker in ended:
        click.echo(f"unblocked: {breaker.words}")
    click.echo(f"reset the {scope} limit: it counts from now on")
    if ended:
        click.echo("continue with: afresh resume, or afresh work")
    return None


def show_week(file: Path | None, as_json: bool) -> None:
    from afresh.app.spending.period_report import report_period, write_period_report
    from afresh.views.period_report import report_to_json

    project = open_current_project()
    report = report_period(project)
    if as_json:
        print_json(report_to_json(report))
    else:
        print_rendered(render_report(report))
    if file:
        click.echo(f"wrote {write_period_report(project, report, file)}", err=True)


def render_report(report: "PeriodReport") -> "RenderableType":
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    from afresh.cli.render.parts import render_heading, render_text
    from afresh.views.period_report import format_period, list_report_rows

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("")
    for name in ("this week", "week before", "trend"):
        table.add_column(name, justify="right", header_style="dim")
    for row in list_report_rows(report):
        table.add_row(row.name, Text(row.now, "bold"), row.before, row.trend)
    head = Text.assemble((report.project, "bold"), f": {format_period(report.now)}, beside {format_period(report.before)}\n")
    alerts = [render_heading("Alerts"), *(render_text(f"  {one}", "yellow") for one in report.alerts)] if report.alerts else []
    return Group(head, table, *alerts)
