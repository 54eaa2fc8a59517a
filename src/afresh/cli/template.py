"""`afresh template`: how windows are laid out for each type of task."""

from pathlib import Path

import click

from afresh.cli.options import json_option


@click.group()
def command() -> None:
    """List, show and check the templates that count here: the project's, yours, and the shipped ones."""


@command.command("list")
@json_option
def list_command(as_json: bool) -> None:
    """List the types of task, and where each comes from."""
    from afresh.app.inspect_templates import list_template_rows, open_templates_at
    from afresh.cli.output import print_json, print_rendered
    from afresh.cli.render.templates import render_template_rows, template_rows_to_json

    rows = list_template_rows(open_templates_at(Path.cwd()))
    if as_json:
        return print_json(template_rows_to_json(rows))
    return print_rendered(render_template_rows(rows))


@command.command()
@click.argument("name")
@click.option("--phase", default="", metavar="P", help="As it is in that phase: understand, change, verify or report.")
@json_option
def show(name: str, phase: str, as_json: bool) -> None:
    """Show what a template comes to, and which file says what."""
    from afresh.app.inspect_templates import load_template_details, open_templates_at
    from afresh.cli.output import print_json
    from afresh.cli.output import print_rendered as render
    from afresh.cli.render.templates import render_template, template_to_json

    one = load_template_details(name, phase, open_templates_at(Path.cwd()))
    if as_json:
        return print_json(template_to_json(one))
    return render(render_template(one))


@command.command()
@click.argument("files", nargs=-1, type=click.Path(path_type=Path), metavar="[FILE]…")
@json_option
def check(files: tuple[Path, ...], as_json: bool) -> None:
    """Look for faults in FILE, or in every template that counts here."""
    from afresh.app.inspect_templates import check_template_files, open_templates_at
    from afresh.cli.output import print_json
    from afresh.cli.output import print_rendered as render
    from afresh.cli.render.templates import render_template_faults, template_faults_to_json

    looked, faults = check_template_files(files, open_templates_at(Path.cwd()))
    if as_json:
        print_json(template_faults_to_json(looked, faults))
    else:
        render(render_template_faults(looked, faults))
    if faults:
        raise SystemExit(1)
