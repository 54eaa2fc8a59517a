"""`afresh work` with a PostgreSQL store: the code comes from the git remote, and the result goes back there."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from person import COMPLETE, MEND, SOURCE, Person

from afresh.app.compose import RunTerms
from afresh.core.event import JournalEntry
from afresh.core.progress_event import ProgressEvent
from afresh.core.state import State
from afresh.fleet.dispatch import ChunkName, list_ready_tasks
from afresh.fleet.run_chunk import run_chunk
from afresh.fleet.stored_projects import open_stored_projects

pytestmark = pytest.mark.reported

LONGEST = 900


@pytest.fixture(autouse=True)
def confined(requires_sandbox) -> None:
    requires_sandbox()


@pytest.fixture
def remote(person: Person, postgres_store: str) -> Path:
    made = person.folder / "remote.git"
    subprocess.run(["git", "clone", "-q", "--bare", str(person.repo), str(made)], check=True)
    person.git("remote", "add", "origin", str(made))
    return made


def list_refs(remote: Path) -> str:
    return subprocess.run(["git", "for-each-ref"], cwd=remote, capture_output=True, text=True, check=True).stdout


def test_a_worker_without_a_checkout_does_a_task_that_the_user_applies(person: Person, remote: Path, tmp_path: Path) -> None:
    task = person.adds("double is wrong", "--model", person.script([MEND], [COMPLETE]))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    done = subprocess.run(
        [sys.executable, "-m", "afresh.cli.main", "work", "--until-empty"],
        cwd=elsewhere, env={**os.environ, "PYTHONPATH": SOURCE, "XDG_CACHE_HOME": str(elsewhere)},
        capture_output=True, text=True, timeout=LONGEST,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert f"claimed {task}, 0 steps so far" in done.stderr and f"{task}: done" in done.stderr
    assert "postgres" not in done.stderr.replace("afresh-postgres", ""), "no address, no password"
    assert person.shown(task)["status"] == "done" and f"refs/heads/afresh/{task}" in list_refs(remote)
    assert "x * 2" in person.types("diff", task).out
    applied = person.types("apply", task)
    assert applied.code == 0, applied.err
    assert "x * 2" in (person.repo / "calc.py").read_text() and "afresh" not in list_refs(remote)


def test_a_fleet_takes_no_orders_that_need_a_person_or_one_answer(person: Person, remote: Path) -> None:
    assert "can't be interactive" in person.types("work", "--mode", "interactive").words
    assert "`afresh apply` merges" in person.types("work", "--auto-merge").words
    assert "afresh status --json" in person.types("work", "--json").words


def test_init_tells_the_workers_that_the_remote_has_moved(person: Person, remote: Path, postgres_store: str) -> None:
    from afresh.storage.choose_storage import identify_project

    person.adds()
    moved = person.folder / "moved.git"
    remote.rename(moved)
    person.git("config", "afresh.project", identify_project(person.repo).key)
    person.git("remote", "set-url", "origin", str(moved))
    identify_project.cache_clear()
    assert person.types("init").code == 0
    with open_stored_projects(postgres_store) as stored:
        assert [project.remote for project in stored.list_projects()] == [str(moved)]


class PausesAfterAStep:
    """A Watcher: a person elsewhere pauses the task when its first step has ended."""

    def __init__(self, person: Person, task: str) -> None:
        self.person, self.task, self.told = person, task, ""

    def saw(self, state: State, entries: Sequence[JournalEntry]) -> None:
        if state.work.step and not self.told:
            self.told = self.person.types("hold", self.task).words

    def follow(self, event: ProgressEvent) -> None:
        """Progress does not matter."""


def test_a_task_that_is_paused_elsewhere_goes_back_and_is_not_given_out(
    person: Person, remote: Path, postgres_store: str, tmp_path: Path
) -> None:
    task = person.adds("double is wrong", "--model", person.script([MEND], [COMPLETE]))
    watcher, said = PausesAfterAStep(person, task), list[str]()
    with open_stored_projects(postgres_store) as stored:
        (project,) = stored.list_projects()
        end = run_chunk(ChunkName(project.key, task, 1), project, tmp_path / "clones", RunTerms(watchers=(watcher,)), said.append)
        assert not end.fault and not end.goes_on and not list_ready_tasks(project), watcher.told
    assert said[-1] == f"{task}: paused after step 1, as a person asked"
    assert person.types("status", "--json").json["tasks"][0]["state"] == "paused"
    assert person.shown(task)["calls"] == 1, "no call was bought after the pause"
