"""`afresh template`: how prompts are laid out for each type of task."""

from pathlib import Path

import click

from afresh.cli.options import json_option
from afresh.cli.output import print_json, print_rendered


@click.group()
def command() -> None:
    """List, show and check templates: how prompts are laid out by task type."""


@command.command("list")
@json_option
def list_command(as_json: bool) -> None:
    """List task types and where each is defined."""
    from afresh.app.inspect.inspect_templates import list_template_rows, open_templates_at
    from afresh.cli.render.templates import render_template_rows, template_rows_to_json

    rows = list_template_rows(open_templates_at(Path.cwd()))
    if as_json:
        return print_json(template_rows_to_json(rows))
    return print_rendered(render_template_rows(rows))


@command.command()
@click.argument("name")
@click.option("--phase", default="", metavar="P", help="In this phase: understand, change, verify or report.")
@json_option
def show(name: str, phase: str, as_json: bool) -> None:
    """Show a template, with the file behind each value."""
    from afresh.app.inspect.inspect_templates import load_template_details, open_templates_at
    from afresh.cli.render.templates import render_template, template_to_json

    one = load_template_details(name, phase, open_templates_at(Path.cwd()))
    if as_json:
        return print_json(template_to_json(one))
    return print_rendered(render_template(one))


@command.command()
@click.argument("files", nargs=-1, type=click.Path(path_type=Path), metavar="[FILE]…")
@json_option
def check(files: tuple[Path, ...], as_json: bool) -> None:
    """Check FILE, or all templates in use, for errors."""
    from afresh.app.inspect.inspect_templates import check_template_files, open_templates_at
    from afresh.cli.render.templates import render_template_faults, template_faults_to_json

    looked, faults = check_template_files(files, open_templates_at(Path.cwd()))
    if as_json:
        print_json(template_faults_to_json(looked, faults))
    else:
        print_rendered(render_template_faults(looked, faults))
    if faults:
        raise SystemExit(1)
