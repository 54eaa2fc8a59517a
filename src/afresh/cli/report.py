"""`afresh report`: the figures of the last week beside those of the week before."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from afresh.cli.options import json_option, open_current_project
from afresh.cli.output import print_json, print_rendered

if TYPE_CHECKING:
    from rich.console import RenderableType

    from afresh.views.period_report import PeriodReport


@click.command("report")
@click.option("--week", is_flag=True, help="The last whole week, Monday to Sunday (default: the last seven days).")
@click.option("--write", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="Write it as Markdown.")
@click.option("--announce", is_flag=True, help="Announce it as heartbeats do: file, hook and webhooks of your settings.")
@json_option
def command(week: bool, write: Path | None, announce: bool, as_json: bool) -> None:
    """Show tokens per call, resumes, contexts, tasks and spending, and how they changed."""
    from afresh.app.heartbeat.announce import Announcer
    from afresh.app.spending.period_report import report_period, write_period_report
    from afresh.views.period_report import report_to_json

    project = open_current_project()
    report = report_period(project, week)
    if as_json:
        print_json(report_to_json(report))
    else:
        print_rendered(render_report(report))
    if write:
        click.echo(f"wrote {write_period_report(project, report, write)}", err=True)
    if announce:
        Announcer(project, lambda text: click.echo(text, err=True)).announce_report(week)


def render_report(report: "PeriodReport") -> "RenderableType":
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    from afresh.cli.render.widgets import render_heading, render_text
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
