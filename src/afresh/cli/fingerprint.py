"""`afresh fingerprint`: what a task is told of whom it works for, on what, and how."""

import click

from afresh.cli.common import TypeOption, json_option

LEVELS = ("user", "project", "type", "task")


@click.command()
@click.option("--level", "-l", type=click.Choice(LEVELS), default=None, help="Only this one.")
@click.option("--for", "goal", default="", metavar="TEXT", help="What a task is to do: adds its own level.")
@click.option("--type", "-t", "type_", cls=TypeOption, default="", metavar="T")
@click.option("--try", "run", is_flag=True, help="Run the tests now, in the sandbox, and keep what came of it.")
@json_option
def command(level: str | None, goal: str, type_: str, run: bool, as_json: bool) -> None:
    """Show what afresh has found out about this project: layout, tests, zones, style, constraints, hot spots."""
    import sys

    from afresh.app.fingerprint import Wanted, printed
    from afresh.cli.common import desk, print_json, show
    from afresh.cli.views.fingerprint import fingerprint_json, plain, print_of

    one = printed(desk(), Wanted(type_, goal, run))
    levels = (level,) if level else LEVELS
    if as_json:
        return print_json(fingerprint_json(one, levels))
    if sys.stdout.isatty():
        return show(print_of(one, levels))
    return click.echo(plain(one, levels))
