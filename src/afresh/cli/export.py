"""`afresh export`: queue and journals as files that git can keep."""

from pathlib import Path

import click

from afresh.cli.common import json_option, quiet_option


@click.command()
@click.argument("folder", required=False, type=click.Path(path_type=Path, file_okay=False))
@click.option("--task", "tasks", multiple=True, metavar="T", help="Only this task and what it waits for; may be repeated.")
@quiet_option
@json_option
def command(folder: Path | None, tasks: tuple[str, ...], quiet: bool, as_json: bool) -> None:
    """Write all tasks to FOLDER (.afresh/export). It holds what the journals hold: goals, code, outputs, replies."""
    from afresh.app.moving import default_folder, export_to
    from afresh.cli.common import desk, print_json, show
    from afresh.cli.views.moving import exported, exported_json, progress

    here = desk()
    with progress(quiet or as_json) as told:
        done = export_to(here, folder or default_folder(here), tasks, told)
    if as_json:
        return print_json(exported_json(done))
    return show(exported(done, here.project.root))
