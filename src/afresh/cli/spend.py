"""`afresh spend`: shows spending against the limits, and resets a limit."""

import click

from afresh.cli.options import json_option
from afresh.cli.output import print_json, print_rendered

SPENDING_GROUPS = ("day", "task", "kind", "section", "model", "project")
LIMIT_SCOPES = ("day", "month", "total", "project", "task", "call")


@click.group(invoke_without_command=True)
@click.option("--by", type=click.Choice(SPENDING_GROUPS), default=None, help="Group by this (default: an overview).")
@click.option("--since", default="30d", show_default=True, metavar="WHEN", help="24h, 7d, 2w, today, all or a date.")
@click.option("--all", "-a", "everywhere", is_flag=True, help="Include all projects.")
@json_option
@click.pass_context
def command(context: click.Context, by: str | None, since: str, everywhere: bool, as_json: bool) -> None:
    """Show what model calls have cost in tokens and money."""
    if context.invoked_subcommand:
        return None
    from pathlib import Path

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
    from pathlib import Path

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
