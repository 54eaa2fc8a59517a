"""What is due in a project: scheduled tasks are added, the report is announced, the heartbeat runs."""

from afresh.app.heartbeat.announce import Announcer
from afresh.app.heartbeat.heartbeat import HeartbeatResult, HeartbeatTerms, load_heartbeat_plan, run_heartbeat
from afresh.app.heartbeat.schedules import REPORT_NOTE, run_due_schedules
from afresh.app.project import Project


def run_what_is_due(project: Project, announcer: Announcer, terms: HeartbeatTerms) -> HeartbeatResult:
    """Returns what the heartbeat came to, which runs only if there is one."""
    for fired in run_due_schedules(project, project.clock.now()):
        announcer.tell(f"schedule {fired.schedule}: {fired.note or f'added task {fired.task}'}")
        if fired.note == REPORT_NOTE:
            announcer.announce_report()
    if load_heartbeat_plan(project.paths.folder) is None:
        return HeartbeatResult(skipped="there is no checklist")
    return run_heartbeat(project, terms)
