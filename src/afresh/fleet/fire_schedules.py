"""What is due in the projects of a fleet: scheduled tasks are added, heartbeats run. Once, however many workers there are."""

from collections.abc import Callable, Sequence
from pathlib import Path

from afresh.app.announce import Announcer
from afresh.app.heartbeat import HeartbeatTerms, load_heartbeat_plan, run_heartbeat
from afresh.app.project import Project, open_project
from afresh.app.schedules import list_schedules, run_due_schedules
from afresh.errors import AfreshError
from afresh.fleet.clone_cache import bring_clone
from afresh.fleet.stored_projects import FleetProject


def fire_due(projects: Sequence[FleetProject], folder: Path, say: Callable[[str], None]) -> None:
    """A fault of one project is said, and does not keep the others from their turn."""
    for project in projects:
        try:
            opened = open_project(bring_clone(folder, project.key, project.name, project.remote))
            try:
                fire_project(opened, say)
            finally:
                opened.storage.close()
        except (AfreshError, OSError) as fault:
            say(f"schedules of {project.name}: {fault}")


def fire_project(project: Project, say: Callable[[str], None]) -> None:
    if list_schedules(project):
        for fired in run_due_schedules(project, project.clock.now()):
            say(f"schedule {fired.schedule}: {fired.note or f'added task {fired.task}'}")
    if load_heartbeat_plan(project.paths.folder) is None:
        return
    announcer = Announcer(project, say, "", False)
    result = run_heartbeat(project, HeartbeatTerms(announce=announcer.announce, alert=say, only_when_due=True))
    if not result.skipped:
        say(f"heartbeat: {len(result.checks)} checked, {len(result.changed)} changed")
