"""`afresh import`: tasks from an export, into an empty project or beside those that are there."""

from pathlib import Path

import click

from afresh.cli.options import json_option, quiet_option


@click.command()
@click.argument("folder", required=False, type=click.Path(path_type=Path, file_okay=False))
@quiet_option
@json_option
def command(folder: Path | None, quiet: bool, as_json: bool) -> None:
    """Import the tasks in FOLDER (default: .afresh/export).

    Safe to repeat. Import only what you trust.
    """
    from afresh.app.export_import import find_export_folder, import_project_tasks
    from afresh.cli.options import open_current_project
    from afresh.cli.output import print_json, print_rendered
    from afresh.cli.render.export_import import import_to_json, render_import, show_status_line

    here = open_current_project()
    with show_status_line(quiet or as_json) as told:
        arrivals = import_project_tasks(here, folder or find_export_folder(here), told)
    if as_json:
        print_json(import_to_json(arrivals))
    else:
        print_rendered(render_import(arrivals))
    if any(arrival.refused for arrival in arrivals):
        raise SystemExit(1)
