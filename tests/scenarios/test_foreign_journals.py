"""An import that somebody has made up: every hash is right, and what it says leads elsewhere."""

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from person import Person, Told

from afresh.core import event as happened
from afresh.core.event import Event, JournalHead
from afresh.core.fact import NOTEBOOK_JOURNAL, Fact, FactKind, FactNoted, FactScope
from afresh.core.hash_chain import link_events
from afresh.core.heartbeat import ScheduleAdded
from afresh.core.network_access import allow_command
from afresh.core.refused_merge import RefusedMerge
from afresh.core.schedule import Schedule
from afresh.core.states.network_state import PermissionsChanged
from afresh.core.states.supervision_state import StepsUndone
from afresh.core.task import Check, StartChosen, Task, TaskStart, TaskStatus
from afresh.storage.export import read_export
from afresh.storage.export.write_export import render_entry_line

TASK = "looks-harmless"


def write_journal(path: Path, name: str, events: Sequence[Event]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(map(render_entry_line, link_events(name, JournalHead(), 1.0, events))), "utf-8")


def forge(person: Person, events: Sequence[Event], notes: Sequence[Event] = (), order: Task | None = None) -> Path:
    """A folder as the copy of another machine would be."""
    folder = person.folder / "given"
    created = happened.TaskCreated(order or Task(id=TASK, goal="a task", type="fix_violation", checks=(Check("true"),)))
    write_journal(folder / "journals" / f"{TASK}.jsonl", TASK, [created, *events])
    if notes:
        write_journal(folder / "notebook.jsonl", NOTEBOOK_JOURNAL, notes)
    (folder / "order.jsonl").write_text(f"{json.dumps(TASK)}\n")
    return folder


def take(person: Person, folder: Path, *more: str) -> Told:
    return person.types("import", str(folder), "--json", *more)


def believe_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read_export, "explain_foreign_event", lambda event, task: "")


@pytest.fixture
def remote(person: Person) -> Path:
    bare = person.folder / "remote.git"
    subprocess.run(["git", "init", "-q", "--bare", str(bare)], check=True)
    person.git("remote", "add", "origin", str(bare))
    person.git("push", "-q", "-u", "origin", "main")
    return bare


def make_push_option(person: Person) -> str:
    """A commit that git would read as the program to start at the other end."""
    return f"--receive-pack=touch {person.folder}/started; git-receive-pack "


def done(commit: str) -> happened.TaskEnded:
    return happened.TaskEnded(TaskStatus.DONE, "all checks pass", commit)


def test_a_commit_that_git_would_read_as_an_option_starts_nothing(person: Person, remote: Path):
    take(person, forge(person, [done(make_push_option(person))]))
    assert person.types("pr", TASK, "--push").code != 0
    assert not (person.folder / "started").exists()


def test_nor_does_it_where_the_journal_is_believed(person: Person, remote: Path, monkeypatch: pytest.MonkeyPatch):
    """The second wall: git is told where its options end."""
    believe_all(monkeypatch)
    take(person, forge(person, [done(make_push_option(person))]))
    assert person.shown(TASK)["status"] == "done"
    assert person.types("pr", TASK, "--push").code != 0
    assert not (person.folder / "started").exists()


def test_a_result_is_pushed_to_the_branch_of_its_task_whatever_the_journal_calls_it(
    person: Person, remote: Path, monkeypatch: pytest.MonkeyPatch
):
    base = person.git("rev-parse", "main")
    person.git("commit", "-q", "--allow-empty", "-m", "not meant for others")
    events = [happened.WorkspaceOpened(base, "main", ""), done(person.git("rev-parse", "HEAD"))]
    believe_all(monkeypatch)
    take(person, forge(person, events))
    person.types("pr", TASK, "--push")
    heads = subprocess.run(["git", "rev-parse", "main"], cwd=remote, capture_output=True, text=True).stdout.strip()
    assert heads == base


@pytest.mark.parametrize("start", [TaskStart(carried="--output={}"), TaskStart(base="--output={}")])
def test_a_start_that_git_would_read_as_an_option_writes_nothing(
    person: Person, start: TaskStart, monkeypatch: pytest.MonkeyPatch
):
    victim = person.folder / "precious"
    victim.write_text("years of work")
    events = [StartChosen(TaskStart(start.base.format(victim), start.carried.format(victim)))]
    believe_all(monkeypatch)
    take(person, forge(person, events))
    person.types("resume", TASK, "--model", "offline", "--no-sandbox")
    assert victim.read_text() == "years of work"


ODD = "--output=precious"
BASE = "0" * 40
FOREIGN: dict[str, list[Event]] = {
    "base": [StartChosen(TaskStart(base=ODD))],
    "carried": [StartChosen(TaskStart(carried=ODD))],
    "refused": [StartChosen(TaskStart(refused=RefusedMerge("other", ODD)))],
    "opened on": [happened.WorkspaceOpened(ODD, f"afresh/{TASK}", BASE)],
    "opened as": [happened.WorkspaceOpened(BASE, f"afresh/{TASK}", ODD)],
    "branch": [happened.WorkspaceOpened(BASE, "main", BASE)],
    "snapshot": [happened.ChangeKeptOrReverted(1, True, "HEAD")],
    "commit": [done("main")],
    "undone": [StepsUndone(1, ODD)],
}


@pytest.mark.promise("a clone, a pull, an import")
@pytest.mark.parametrize("what", FOREIGN)
def test_names_that_are_no_objects_of_git_are_not_taken(person: Person, what: str):
    folder = forge(person, FOREIGN[what])
    told = take(person, folder).json["arrivals"][0]
    assert told["entries"] == 1 and "lines that can't be used: 1" in told["note"]


def test_a_part_that_begins_with_no_tree_of_git_is_damaged(person: Person):
    told = take(person, forge(person, [], order=Task(id=TASK, goal="a part", parent="other", tree=ODD)))
    assert told.code == 1 and told.json["arrivals"][0]["relation"] == "unusable"


@pytest.mark.parametrize(
    "schedule", [Schedule("s", "g"), Schedule("s", "g", cron="never"), Schedule("s", "g", -60), Schedule("s", "g", 10**17)]
)
def test_a_schedule_that_is_never_due_does_not_stop_the_service(
    person: Person, schedule: Schedule, monkeypatch: pytest.MonkeyPatch
):
    folder = forge(person, [], [ScheduleAdded(schedule, 1.0)])
    assert take(person, folder).code == 1 and "no schedules" in person.types("schedule", "list").out
    believe_all(monkeypatch)
    take(person, folder)
    assert "no schedules" not in person.types("schedule", "list").out, "the twin"


def test_a_task_that_opens_the_network_is_left_out_until_a_person_says_so(person: Person):
    folder = forge(person, [PermissionsChanged((allow_command("curl ..."),))])
    told = person.types("import", str(folder))
    assert told.code == 1 and "opens the network for `curl ...`" in told.words
    assert TASK not in person.types("status", "--all").out
    assert take(person, folder, "--allow-network").code == 0
    assert "curl" in person.types("allow", TASK).out


def test_what_holds_in_every_task_comes_from_the_users_settings_and_no_import(person: Person):
    """Such a permission is taken back when the task begins."""
    assert take(person, forge(person, [PermissionsChanged((allow_command("curl ...", always=True),))])).code == 0
    person.types("resume", TASK, "--model", "offline", "--no-sandbox")
    assert "curl" not in person.types("allow", TASK).out


def test_rules_and_schedules_that_an_import_brings_are_named(person: Person):
    rule = Fact(FactKind.RULE, "rule", "say please", scope=FactScope.PROJECT)
    folder = forge(person, [], [FactNoted(rule, "x"), ScheduleAdded(Schedule("s", "g", 3_600), 1.0)])
    told = person.types("import", str(folder)).words
    assert "rules for every prompt: 1" in told and "schedules: 1" in told
