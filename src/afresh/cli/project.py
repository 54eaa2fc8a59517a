"""`afresh init` and `instructions`: this project."""

from pathlib import Path

import click

from afresh.cli.options import TypeOption, json_option, open_current_project
from afresh.cli.output import print_json, print_rendered


@click.command("init")
@json_option
def init_command(as_json: bool) -> None:
    """Set up this repository: create .afresh and find the checks."""
    from afresh.app.project import init_project
    from afresh.cli.render.activity import show_activity_line

    with show_activity_line("looking for the test command and trying it"):
        made = init_project(open_current_project())
    if as_json:
        return print_json({"done": list(made)})
    return click.echo("\n".join(made))


@click.command("instructions")
@click.argument("path", default="", metavar="[PATH]")
@click.option("--type", "-t", "type_", cls=TypeOption, default="", metavar="T")
@json_option
def instructions_command(path: str, type_: str, as_json: bool) -> None:
    """Show the instructions (AGENT.md, CLAUDE.md …) for work on PATH, with their sources."""
    from afresh.app.inspect.inspect_instructions import preview_instructions
    from afresh.cli.render.project import instructions_to_json, render_instructions_preview

    one = preview_instructions(Path.cwd(), path, type_)
    if as_json:
        print_json(instructions_to_json(one))
    else:
        print_rendered(render_instructions_preview(one))
    if one.faults:
        raise SystemExit(1)
