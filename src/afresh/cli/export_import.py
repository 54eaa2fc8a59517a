"""`afresh export` and `import`: tasks as files that git can keep."""

from pathlib import Path

import click

from afresh.cli.exit_codes import ExitCode
from afresh.cli.options import json_option, open_current_project
from afresh.cli.output import print_json, print_rendered


@click.command("export")
@click.argument("folder", required=False, type=click.Path(path_type=Path, file_okay=False))
@click.option("--task", "tasks", multiple=True, metavar="T", help="Export only this task and those it waits for. Repeatable.")
@json_option
def export_command(folder: Path | None, tasks: tuple[str, ...], as_json: bool) -> None:
    """Write all tasks to FOLDER (default: .afresh/export).

    The files contain what the journals contain: goals, code, outputs and replies.
    """
    from afresh.app.stored_state.export_import import export_project_tasks, find_export_folder
    from afresh.cli.render.activity import show_activity_line
    from afresh.cli.render.export_import import export_to_json, render_export

    project = open_current_project()
    with show_activity_line("exporting tasks") as told:
        done = export_project_tasks(project, folder or find_export_folder(project), tasks, told)
    if as_json:
        print_json(export_to_json(done))
    else:
        print_rendered(render_export(done, project.paths.root))
    if done.damaged:
        raise SystemExit(ExitCode.SETUP)


@click.command("import")
@click.argument("folder", required=False, type=click.Path(path_type=Path, file_okay=False))
@click.option("--allow-network", is_flag=True, help="Take tasks that open the network, too; see `afresh allow`.")
@json_option
def import_command(folder: Path | None, allow_network: bool, as_json: bool) -> None:
    """Import the tasks in FOLDER (default: the copy in .afresh/state/export, and .afresh/export).

    Safe to repeat. Import only what you trust.
    """
    from afresh.app.stored_state.export_import import import_lost_tasks, import_project_tasks
    from afresh.cli.render.activity import show_activity_line
    from afresh.cli.render.export_import import import_to_json, render_import

    project = open_current_project()
    with show_activity_line("importing tasks") as told:
        if folder:
            arrivals = import_project_tasks(project, folder, told, allow_network)
        else:
            arrivals = import_lost_tasks(project, told, allow_network)
    if as_json:
        print_json(import_to_json(arrivals))
    else:
        print_rendered(render_import(arrivals))
    if any(arrival.refused for arrival in arrivals):
        raise SystemExit(1)
