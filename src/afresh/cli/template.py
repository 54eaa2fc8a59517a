"""`afresh template`: how windows are laid out for each type of task."""

from pathlib import Path

import click

from afresh.cli.common import json_option


@click.group()
def command() -> None:
    """List, show and check the templates that count here: the project's, yours, and the shipped ones."""


@command.command("list")
@json_option
def list_(as_json: bool) -> None:
    """List the types of task, and where each comes from."""
    from afresh.app.templates import listed, shelf_at
    from afresh.cli.common import print_json, show
    from afresh.cli.views.template import template_list, template_list_json

    rows = listed(shelf_at(Path.cwd()))
    if as_json:
        return print_json(template_list_json(rows))
    return show(template_list(rows))


@command.command()
@click.argument("name")
@click.option("--phase", default="", metavar="P", help="As it is in that phase: understand, change, verify or report.")
@json_option
def show(name: str, phase: str, as_json: bool) -> None:
    """Show what a template comes to, and which file says what."""
    from afresh.app.templates import shelf_at, shown
    from afresh.cli.common import print_json
    from afresh.cli.common import show as render
    from afresh.cli.views.template import template_show, template_show_json

    one = shown(name, phase, shelf_at(Path.cwd()))
    if as_json:
        return print_json(template_show_json(one))
    return render(template_show(one))


@command.command()
@click.argument("files", nargs=-1, type=click.Path(path_type=Path), metavar="[FILE]…")
@json_option
def check(files: tuple[Path, ...], as_json: bool) -> None:
    """Look for faults in FILE, or in every template that counts here."""
    from afresh.app.templates import checked, shelf_at
    from afresh.cli.common import print_json
    from afresh.cli.common import show as render
    from afresh.cli.views.template import template_check, template_check_json

    looked, faults = checked(files, shelf_at(Path.cwd()))
    if as_json:
        print_json(template_check_json(looked, faults))
    else:
        render(template_check(looked, faults))
    if faults:
        raise SystemExit(1)
