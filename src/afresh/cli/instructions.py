"""`afresh instructions`: what people have laid down for whoever works here."""

from pathlib import Path

import click

from afresh.cli.options import TypeOption, json_option


@click.command()
@click.argument("path", default="", metavar="[PATH]")
@click.option("--type", "-t", "type_", cls=TypeOption, default="", metavar="T")
@json_option
def command(path: str, type_: str, as_json: bool) -> None:
    """Show the instructions (AGENT.md, CLAUDE.md …) for work on PATH, with their sources."""
    from afresh.app.inspect_instructions import preview_instructions
    from afresh.cli.output import print_json, print_rendered
    from afresh.cli.render.instructions import instructions_to_json, render_instructions_preview

    one = preview_instructions(Path.cwd(), path, type_)
    if as_json:
        print_json(instructions_to_json(one))
    else:
        print_rendered(render_instructions_preview(one))
    if one.faults:
        raise SystemExit(1)
