"""`afresh template`: how prompts are laid out for each type of task."""

from pathlib import Path

import click

from afresh.app.inspect.inspect_templates import (
    check_template_files,
    list_template_rows,
    load_template_details,
    open_templates_at,
)
from afresh.cli.render.templates import build_template, build_template_faults, build_template_list
from afresh.views.page import Page


@click.command("template")
@click.argument("names", nargs=-1, metavar="[NAME]")
@click.option("--phase", default="", metavar="P", help="In this phase: understand, change, verify or report.")
@click.option("--check", is_flag=True, help="Look for errors instead: in the files that are named, or in all templates in use.")
def command(names: tuple[str, ...], phase: str, check: bool) -> Page:
    """Show template NAME, with the file behind each value; without a name, list task types and where each is defined."""
    library = open_templates_at(Path.cwd())
    if check:
        return build_template_faults(*check_template_files(tuple(map(Path, names)), library))
    if len(names) > 1:
        raise click.UsageError("name one template; --check takes several files")
    if names:
        return build_template(load_template_details(names[0], phase, library))
    return build_template_list(list_template_rows(library))
