"""Heartbeats, schedules and the report are the same on PostgreSQL as on SQLite."""

from pathlib import Path

from person import Person

from afresh.app.heartbeat.heartbeat_state import MAX_ENTRIES_AFTER_SNAPSHOT, SNAPSHOT_FILE_NAME, load_heartbeat_state
from afresh.app.heartbeat.schedules import run_due_schedules
from afresh.app.project import open_project
from afresh.core.heartbeat import HeartbeatBegan, HeartbeatEnded, HeartbeatPaused

WEEK = 604_800.0


def test_a_checklist_is_watched_and_scheduled_tasks_are_added_once(person: Person, postgres_store: str):
    (person.repo / ".afresh").mkdir(exist_ok=True)
    (person.repo / ".afresh" / "HEARTBEAT.md").write_text("- release notes follow the commits\n")
    assert person.types("schedule", "run").out.endswith("1 checked, 0 changed\n")
    assert person.types("schedule", "run").out == "1 checked, 0 changed\n"
    assert person.types("schedule", "add", "update the pins", "--every", "1w", "--check", "true").code == 0
    project = open_project(person.repo)
    later = project.clock.now() + WEEK + 1
    assert [bool(fired.task) for fired in run_due_schedules(project, later)] == [True]
    assert run_due_schedules(project, later) == ()
    project.storage.close()
    assert person.types("spend", "--week", "--json").json["now"]["verified"] == 0
    assert not Path(person.repo, ".afresh/state/afresh.db").exists(), "all of it is on the server"


def test_the_file_of_heartbeats_is_not_used_against_a_notebook_on_a_server(person: Person, postgres_store: str):
    project = open_project(person.repo)
    for at in range(MAX_ENTRIES_AFTER_SNAPSHOT):
        project.notebook.append([HeartbeatBegan("w", float(at)), HeartbeatEnded(float(at))])
    known = load_heartbeat_state(project)
    file = project.paths.state / SNAPSHOT_FILE_NAME
    assert file.is_file()
    file.write_text(file.read_text().replace('"hash":"', '"hash":"0'))
    assert load_heartbeat_state(project) == known
    project.notebook.append([HeartbeatPaused(True)])
    assert load_heartbeat_state(project).paused
    project.storage.close()
