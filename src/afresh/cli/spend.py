"""`afresh spend`: shows spending against the limits and beside the week before, and resets a limit."""

from pathlib import Path

import click

from afresh.app.spending.period_report import report_period, write_period_report
from afresh.app.spending.spending_ledger import open_ledger_at
from afresh.app.spending.spending_report import SpendingGroup, parse_since, report_spending, reset_limit
from afresh.cli.options import open_current_project
from afresh.cli.render.spending import (
    build_period_report,
    build_spending,
)
from afresh.core.spending import LimitScope
from afresh.views.page import Page


@click.command("spend")
@click.argument("task", required=False, metavar="")
@click.option(
    "--by",
    type=click.Choice([group.value for group in SpendingGroup]),
    default=None,
    help="Group by this (default: an overview).",
)
@click.option("--since", default="30d", show_default=True, metavar="WHEN", help="24h, 7d, 2w, today, all or a date.")
@click.option("--all", "-a", "everywhere", is_flag=True, help="Include all projects.")
@click.option("--week", is_flag=True, help="Show the last seven days beside those before: sizes, tasks, resumes, spending.")
@click.option(
    "--write", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="With --week: write it as Markdown."
)
@click.option(
    "--reset",
    type=click.Choice([scope.value for scope in LimitScope]),
    metavar="SCOPE",
    help=f"Start this limit's count again: {', '.join(LimitScope)} [TASK].",
)
def command(
    task: str | None, by: str | None, since: str, everywhere: bool, week: bool, write: Path | None, reset: str | None
) -> Page:
    """Show what model calls have cost in tokens and money."""
    if reset:
        return reset_and_report(LimitScope(reset), task)
    if task:
        raise click.UsageError(f"unexpected {task!r}: only --reset task takes a task")
    if week or write:
        return show_week(write)
    own = open_ledger_at(Path.cwd())
    report = report_spending(own, SpendingGroup(by or "day"), parse_since(since, own.now), everywhere or by == "project")
    return build_spending(report, is_overview=by is None)


def reset_and_report(scope: LimitScope, task: str | None) -> Page:
    ended = [breaker.words for breaker in reset_limit(open_ledger_at(Path.cwd()), scope, task)]
    lines = [*(f"unblocked: {words}" for words in ended), f"reset the {scope} limit: it counts from now on"]
    lines += ["continue with: afresh resume, or afresh work"] if ended else []
    return Page({"scope": scope, "unblocked": ended}, "\n".join(lines))


def show_week(file: Path | None) -> Page:
    project = open_current_project()
    report = report_period(project)
    if file:
        click.echo(f"wrote {write_period_report(project, report, file)}", err=True)
    return build_period_report(report)
