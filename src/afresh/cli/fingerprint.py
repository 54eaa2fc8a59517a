"""`afresh fingerprint`: what a task is told of whom it works for, on what, and how."""

import click

from afresh.cli.options import TypeOption, json_option

PROFILE_LEVELS = ("user", "project", "type", "task")


@click.command()
@click.option("--level", "-l", type=click.Choice(PROFILE_LEVELS), default=None, help="Show only this level.")
@click.option("--for", "goal", default="", metavar="TEXT", help="A goal; adds what is specific to it.")
@click.option("--type", "-t", "type_", cls=TypeOption, default="", metavar="T")
@click.option("--try", "run", is_flag=True, help="Run the tests now, in the sandbox, and store the result.")
@json_option
def command(level: str | None, goal: str, type_: str, run: bool, as_json: bool) -> None:
    """Show what afresh knows about this project: layout, tests, style, hot spots."""
    import sys

    from afresh.app.project_profile import ProfileRequest, profile_checkout
    from afresh.cli.options import open_current_project
    from afresh.cli.output import print_json, print_rendered
    from afresh.cli.render.project_profile import format_plain_profile, profile_to_json, render_profile

    one = profile_checkout(open_current_project(), ProfileRequest(type_, goal, run))
    levels = (level,) if level else PROFILE_LEVELS
    if as_json:
        return print_json(profile_to_json(one, levels))
    if sys.stdout.isatty():
        return print_rendered(render_profile(one, levels))
    return click.echo(format_plain_profile(one, levels))
