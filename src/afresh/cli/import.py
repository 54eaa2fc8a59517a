"""`afresh import`: tasks from an export, into an empty project or beside those that are there."""

from pathlib import Path

import click

from afresh.cli.common import json_option, quiet_option


@click.command()
@click.argument("folder", required=False, type=click.Path(path_type=Path, file_okay=False))
@quiet_option
@json_option
def command(folder: Path | None, quiet: bool, as_json: bool) -> None:
    """Bring in the tasks of FOLDER (.afresh/export). Safe to repeat; only take in what you trust."""
    from afresh.app.moving import default_folder, import_from
    from afresh.cli.common import desk, print_json, show
    from afresh.cli.views.moving import imported, imported_json, progress

    here = desk()
    with progress(quiet or as_json) as told:
        arrivals = import_from(here, folder or default_folder(here), told)
    if as_json:
        print_json(imported_json(arrivals))
    else:
        show(imported(arrivals))
    if any(arrival.refused for arrival in arrivals):
        raise SystemExit(1)
