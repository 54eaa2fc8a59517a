"""`afresh template`: how prompts are laid out for each type of task."""

from pathlib import Path

import click

from afresh.app.inspect.inspect_templates import (
    check_template_files,
    list_template_rows,
    load_template_details,
    open_templates_at,
)
from afresh.cli.render import templates as views
from afresh.views.page import Page


@click.command("template")
@click.argument("names", nargs=-1, metavar="[NAME]")
@click.option("--phase", default="", metavar="P", help="In this phase: understand, change, verify or report.")
@click.option("--check", is_flag=True, help="Look for errors instead: in the files that are named, or in all templates in use.")
def command(names: tuple[str, ...], phase: str, check: bool) -> Page:
    """Show template NAME, with the file behind each value; without a name, list task types and where each is defined."""
    library = open_templates_at(Path.cwd())
    if check:
        checked, faults = check_template_files(tuple(map(Path, names)), library)
        text = views.render_template_faults(checked, faults)
        return Page(views.template_faults_to_json(checked, faults), text, int(bool(faults)))
    if len(names) > 1:
        raise click.UsageError("name one template; --check takes several files")
    if names:
        details = load_template_details(names[0], phase, library)
        return Page(views.template_to_json(details), views.render_template(details))
    rows = list_template_rows(library)
    return Page(views.template_rows_to_json(rows), views.render_template_rows(rows))
