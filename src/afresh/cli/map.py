"""`afresh map`: the files and symbols that matter, and why."""

import click

from afresh.cli.options import json_option


@click.command()
@click.option("--for", "about", default="", metavar="TEXT", help="What you want to do or know (default: an overview).")
@click.option(
    "--tokens", "-n", default=2_000, type=click.IntRange(1, 200_000), show_default=True, help="Maximum size of the map."
)
@json_option
def command(about: str, tokens: int, as_json: bool) -> None:
    """Show the most relevant files and symbols, each with the reason.

    The ranking uses text, names, imports and git history. Works in any git repository, without `afresh init`,
    and changes nothing in it. In a pipe, prints the plain map as a model gets it.
    """
    import sys
    from pathlib import Path

    from afresh.app.explore_code import build_code_map
    from afresh.cli.output import print_code_lines, print_json
    from afresh.cli.render.code_map import code_map_to_json, render_code_map

    made = build_code_map(Path.cwd(), about, tokens)
    if as_json:
        return print_json(code_map_to_json(made))
    return print_code_lines(render_code_map(made)) if sys.stdout.isatty() else click.echo(made.text)
