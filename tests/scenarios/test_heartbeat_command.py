"""`afresh schedule` as a person types it."""

import signal

import pytest
from person import Person

from afresh.app.heartbeat.announce import Announcer
from afresh.app.heartbeat.heartbeat import HeartbeatTerms
from afresh.app.project import Project
from afresh.cli import schedule as schedule_command


@pytest.fixture
def watched(person: Person) -> Person:
    folder = person.repo / ".afresh"
    folder.mkdir(exist_ok=True)
    (folder / "HEARTBEAT.md").write_text("- release notes follow the commits\n")
    return person


def test_list_shows_each_item_and_pause_stops_runs_until_resume(watched: Person):
    assert "not checked yet · no change · 0 calls" in watched.types("schedule", "list").words
    watched.types("schedule", "run")
    [item] = watched.types("schedule", "list", "--json").json["items"]
    assert item["checked"] > 0 and item["calls"] == 0
    assert watched.types("schedule", "pause").out == "paused\n"
    assert "paused" in watched.types("schedule", "run").out
    assert "paused" in watched.types("schedule", "list").out
    watched.types("schedule", "resume")
    assert watched.types("schedule", "run", "--json").json["skipped"] == ""


def test_the_loop_runs_what_is_due_and_outlives_a_fault(watched: Person, monkeypatch: pytest.MonkeyPatch):
    looks, run_due = list[int](), schedule_command.run_due

    def look(project: Project, terms: HeartbeatTerms, announcer: Announcer) -> None:
        looks.append(1)
        if len(looks) == 2:
            (watched.repo / ".afresh" / "HEARTBEAT.md").write_text("---\nevery: never\n---\n- x\n")
        if len(looks) == 3:
            signal.raise_signal(signal.SIGTERM)
        run_due(project, terms, announcer)

    monkeypatch.setattr(schedule_command, "LOOP_SECONDS", 0.0)
    monkeypatch.setattr(schedule_command, "run_due", look)
    told = watched.types("schedule", "run", "--loop")
    assert told.code == 0 and "1 checked, 0 changed" in told.out
    assert told.err.count("HEARTBEAT.md:2: every: 'never' is no interval") == 2


def test_a_schedule_is_added_listed_with_its_next_time_and_removed(person: Person):
    assert "every 1w" in person.types("schedule", "add", "update the pins", "--every", "1w", "--set", "budget=3000").out
    [listed] = person.types("schedule", "list", "--json").json["schedules"]
    assert listed["when"] == "every 1w" and listed["next"] > 0
    assert person.types("schedule", "remove", "update").code == 0
    assert person.types("schedule", "list").out == "no schedules\n"
    assert person.types("schedule", "add", "x", "--every", "1w", "--cron", "0 3 * * 1").code == 2
    assert person.types("schedule", "add", "--every", "1w").code == 2 == person.types("schedule", "add", "x", "--report").code
