"""What is due in the projects of a fleet: scheduled tasks are added, heartbeats run. Once, however many workers there are."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from afresh.app.heartbeat.announce import Announcer
from afresh.app.heartbeat.heartbeat import HeartbeatTerms
from afresh.app.heartbeat.run_due import run_what_is_due
from afresh.app.project import Project, open_project
from afresh.errors import AfreshError
from afresh.fleet.clone_cache import bring_clone
from afresh.fleet.stored_projects import StoredProjects


def fire_due(stored: StoredProjects, folder: Path, say: Callable[[str], None]) -> None:
    """By the server's clock. The fault of one project is reported, and the other projects still run."""
    for project in stored.list_projects():
        try:
            opened = open_project(bring_clone(folder, project.key, project.name, project.remote))
            try:
                fire_project(replace(opened, clock=stored.clock), say)
            finally:
                opened.storage.close()
        except (AfreshError, OSError) as fault:
            say(f"schedules of {project.name}: {fault}")


def fire_project(project: Project, say: Callable[[str], None]) -> None:
    announcer = Announcer(project, say)
    terms = HeartbeatTerms(announce=announcer.announce, alert=say, only_when_due=True)
    result = run_what_is_due(project, announcer, terms)
    if not result.skipped:
        say(f"heartbeat: {len(result.checks)} checked, {len(result.changed)} changed")
