"""Killed with SIGKILL anywhere: an import leaves the store as before or complete, an export leaves the old one or the new."""

import os
import signal
import sqlite3
from pathlib import Path

import pytest
from projects import Projects, content, kept, project_on

from afresh.app.project import Project
from afresh.app.stored_state.export_import import export_project_tasks, import_project_tasks
from support.sample_journals import append_step, create_task

pytestmark = pytest.mark.journey


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


class Mortal(sqlite3.Connection):
    """Kills its process before the nth statement that writes."""

    left = 0

    def execute(self, sql: str, *values: object) -> sqlite3.Cursor:
        if sql.startswith(("INSERT", "COMMIT")):
            Mortal.left -= 1
            if Mortal.left < 0:
                die()
        return super().execute(sql, *values)


def in_child(work) -> bool:
    """Whether it came to its end."""
    child = os.fork()
    if child == 0:
        try:
            work()
        finally:
            os._exit(0)
    return os.waitpid(child, 0)[1] == 0


def mortal_import(path: Path, project: Project, folder: Path, point: int) -> None:
    connect, Mortal.left = sqlite3.connect, point
    sqlite3.connect = lambda *given, **named: connect(*given, **{**named, "factory": Mortal})
    import_project_tasks(project_on(path, project), folder)


def test_an_import_that_is_killed_anywhere_leaves_the_store_as_before_or_complete(projects: Projects):
    source, folder = projects.fresh(), projects.place()
    for task in ("one", "two"):
        append_step(source.store, create_task(source.store, task))
    export_project_tasks(source, folder)
    point, finished, seen = 0, False, set[int]()
    while not finished:
        there = projects.fresh()
        create_task(there.store, "mine")
        before = kept(there)
        there.storage.close()
        path = there.storage.journal._database.path  # pyright: ignore
        finished = in_child(lambda there=there, path=path, point=point: mortal_import(path, there, folder, point))
        after = kept(there)
        assert after == before or set(after[1]) == {"mine", "one", "two"}
        seen.add(len(after[1]))
        import_project_tasks(there, folder)
        assert set(kept(there)[1]) == {"mine", "one", "two"}
        assert not (there.paths.state / "import.unfinished").exists()
        point += 1
    assert point > 10 and seen == {1, 3}


def test_an_export_that_is_killed_anywhere_leaves_the_old_one_or_the_new(projects: Projects):
    here, point, finished = projects.fresh(), 0, False
    append_step(here.store, create_task(here.store, "one"))
    old_folder, seen = projects.place(), set[int]()
    export_project_tasks(here, old_folder)
    old = content(old_folder)
    append_step(here.store, here.store.load("one"))
    create_task(here.store, "two")
    new_folder = projects.place()
    export_project_tasks(here, new_folder)
    here.store.close()

    def mortal_export(folder: Path, point: int) -> None:
        whole, left = Path.replace, [point]

        def replace(self: Path, target: Path) -> Path:
            left[0] -= 1
            if left[0] < 0:
                die()
            return whole(self, target)

        Path.replace = replace
        export_project_tasks(here, folder)

    while not finished:
        folder = projects.place()
        for name, data in old.items():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_bytes(data)
        (folder / "work").mkdir()
        finished = in_child(lambda folder=folder, point=point: mortal_export(folder, point))
        there = projects.fresh()
        seen.add(len(import_project_tasks(there, folder)))
        assert kept(there)[1]["one"] in ([*kept(here)[1]["one"][:7]], kept(here)[1]["one"])
        export_project_tasks(here, folder)
        assert content(folder) == content(new_folder)
        point += 1
    assert point > 4 and seen == {1, 2}


def test_a_task_that_somebody_works_on_here_is_not_touched(projects: Projects):
    from afresh.storage.renew_lease import identify_worker

    source, there, folder = projects.fresh(), projects.fresh(), projects.place()
    for task in ("one", "two"):
        create_task(source.store, task)
    export_project_tasks(source, folder)
    import_project_tasks(there, folder)
    there.queue.claim(identify_worker(), "one")
    append_step(source.store, source.store.load("one"))
    append_step(source.store, source.store.load("two"))
    export_project_tasks(source, folder)
    one, two = import_project_tasks(there, folder)
    assert one.owner == identify_worker() and one.refused and there.store.load("one").work.step == 0
    assert two.added and there.store.load("two").work.step == 1
    there.queue.release(identify_worker(), "one")
    assert import_project_tasks(there, folder)[0].added and there.store.load("one").work.step == 1


def test_what_another_machine_was_running_can_be_taken_up(projects: Projects):
    from afresh.core.event import TaskClaimed
    from support.sample_journals import append_events

    source, there, folder = projects.fresh(), projects.fresh(), projects.place()
    append_events(source.store, create_task(source.store, "one"), [TaskClaimed("elsewhere:1:1")])
    source.queue.claim("elsewhere:1:1", "one")
    export_project_tasks(source, folder)
    import_project_tasks(there, folder)
    (ticket,) = there.queue.tickets()
    assert ticket.status == "running" and ticket.ready and not ticket.owner
    assert there.queue.claim("here:2:2") == "one"
