"""`afresh export` and `import`: tasks as files that git can keep."""

from pathlib import Path

import click

from afresh.app.project import Project
from afresh.app.stored_state.export_import import (
    export_project_tasks,
    find_export_folder,
    import_lost_tasks,
    import_project_tasks,
)
from afresh.cli.options import with_project
from afresh.cli.render.activity import show_activity_line
from afresh.cli.render.export_import import build_export, build_import
from afresh.views.page import Page


@click.command("export")
@click.argument("folder", required=False, type=click.Path(path_type=Path, file_okay=False))
@click.option("--task", "tasks", multiple=True, metavar="T", help="Export only this task and those it waits for. Repeatable.")
@with_project
def export_command(project: Project, folder: Path | None, tasks: tuple[str, ...]) -> Page:
    """Write all tasks to FOLDER (default: .afresh/export).

    The files contain what the journals contain: goals, code, outputs and replies.
    """
    with show_activity_line("exporting tasks") as tell:
        done = export_project_tasks(project, folder or find_export_folder(project), tasks, tell)
    return build_export(done, project.paths.root)


@click.command("import")
@click.argument("folder", required=False, type=click.Path(path_type=Path, file_okay=False))
@click.option("--allow-network", is_flag=True, help="Take tasks that open the network, too; see `afresh allow`.")
@with_project
def import_command(project: Project, folder: Path | None, allow_network: bool) -> Page:
    """Import the tasks in FOLDER (default: the copy in .afresh/state/export, and .afresh/export).

    Safe to repeat. Import only what you trust.
    """
    with show_activity_line("importing tasks") as tell:
        if folder:
            arrivals = import_project_tasks(project, folder, tell, allow_network)
        else:
            arrivals = import_lost_tasks(project, tell, allow_network)
    return build_import(arrivals)
