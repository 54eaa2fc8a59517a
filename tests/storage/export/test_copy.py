"""The copy that is written by itself: complete after every commit, never believed beyond its hashes, never overwritten by a new
database."""

import os
import shutil
import signal
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from projects import Projects, content, kept

from afresh.app.project import Project
from afresh.app.stored_state.export_import import import_project_tasks
from afresh.core import event as happened
from afresh.core.fact import Fact, FactKind, FactNoted, FactScope
from afresh.storage.export import journal_copy
from afresh.storage.export.journal_copy import JournalCopy
from afresh.storage.sqlite.storage import open_sqlite_storage
from support.sample_journals import append_events, append_step, create_task


class Place:
    """A project whose database is copied, as processes come and go."""

    def __init__(self, projects: Projects) -> None:
        self.projects, self.folder, self.warnings = projects, projects.place(), list[str]()
        self.project = self.reopen()

    def reopen(self) -> Project:
        first = self.projects.first
        storage = open_sqlite_storage(self.folder, self.folder / "user", first.clock, self.warnings.append)
        self.project = replace(first, storage=storage)
        return self.project

    @property
    def copy(self) -> JournalCopy:
        assert isinstance(self.project.storage.copy, JournalCopy)
        return self.project.storage.copy

    @property
    def files(self) -> dict[str, bytes]:
        """All but the mark, which names the machine's start."""
        return {name: data for name, data in content(self.copy.folder).items() if not name.endswith("copied.json")}

    def work(self, task: str, steps: int = 2) -> None:
        state = create_task(self.project.store, task)
        for _ in range(steps):
            state = append_step(self.project.store, state)

    def go_on(self, task: str) -> None:
        append_step(self.project.store, self.project.store.load(task))

    def note(self, text: str) -> None:
        self.project.notebook.append([FactNoted(Fact(FactKind.NOTE, text, text, scope=FactScope.PROJECT), "me")])

    def lose_database(self) -> None:
        self.project.storage.close()
        for path in self.folder.glob("afresh.db*"):
            path.unlink()
        self.reopen()

    def bring_back(self) -> None:
        import_project_tasks(self.project, self.copy.folder)
        self.copy.rebuild()


@pytest.fixture
def place(projects: Projects) -> Place:
    return Place(projects)


def test_every_commit_of_a_journal_or_the_notebook_is_in_the_copy(place: Place):
    place.work("one")
    place.note("amounts are whole cents")
    place.work("two", steps=1)
    place.note("dates are local")
    assert place.copy.list_problems() == [] and place.warnings == []
    lines = place.files["journals/one.jsonl"].splitlines()
    assert len(lines) == place.project.store.load("one").head.seq and len(place.files["notebook.jsonl"].splitlines()) == 2
    assert place.files["order.jsonl"] == b'"one"\n"two"\n'
    assert all(path.stat().st_mode & 0o077 == 0 for path in place.copy.folder.rglob("*"))


def test_a_copy_that_was_deleted_is_made_again_byte_for_byte(place: Place):
    place.work("one", steps=70)
    place.work("two")
    place.note("amounts are whole cents")
    before = place.files
    for path in sorted(place.copy.folder.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    assert place.copy.rebuild() == [] and place.files == before


def test_all_tasks_come_back_from_the_copy_and_go_on(place: Place):
    for task in ("second", "first", "third"):
        place.work(task)
    place.note("amounts are whole cents")
    before, notes = kept(place.project), [entry.hash for entry in place.project.notebook.entries()]
    place.lose_database()
    place.bring_back()
    assert kept(place.project) == before and [entry.hash for entry in place.project.notebook.entries()] == notes
    place.go_on("first")
    assert place.copy.list_problems() == [] and place.warnings == []


def test_a_new_database_does_not_touch_what_only_the_copy_has_and_warns(place: Place):
    place.work("one")
    place.note("amounts are whole cents")
    before = place.files
    place.lose_database()
    place.work("new")
    create_task(place.project.store, "one")
    place.note("something else")
    assert len(place.warnings) == 1 and "afresh import" in place.warnings[0]
    after = place.files
    assert {name: after[name] for name in before if name != "order.jsonl"} == {
        name: data for name, data in before.items() if name != "order.jsonl"
    }
    assert place.copy.rebuild() and place.files["journals/one.jsonl"] == before["journals/one.jsonl"]
    assert any("one" in what for what in place.copy.list_problems())


@pytest.mark.parametrize("cut", (1, 40, 400, 100_000))
def test_a_torn_file_is_cut_to_its_last_line_and_goes_on(place: Place, cut: int):
    place.work("one", steps=3)
    for name in ("journals/one.jsonl", "blocks/one.jsonl"):
        path = place.copy.folder / name
        path.write_bytes(path.read_bytes()[:-cut])
    place.reopen().store.load("one")
    place.go_on("one")
    place.copy.rebuild()
    assert place.copy.list_problems() == [] and place.warnings == []
    before = kept(place.project)
    place.lose_database()
    place.bring_back()
    assert kept(place.project) == before


def test_zeros_at_the_end_after_a_power_cut_are_written_over_from_the_database(place: Place):
    place.work("one", steps=3)
    path = place.copy.folder / "journals/one.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole[:-900] + bytes(900))
    place.reopen()
    place.go_on("one")
    assert path.read_bytes().startswith(whole) and place.copy.list_problems() == []


def test_what_killed_processes_did_not_copy_is_caught_up_with_by_the_next_one(place: Place, monkeypatch: pytest.MonkeyPatch):
    place.work("one")
    with monkeypatch.context() as patch:
        patch.setattr(JournalCopy, "add_entries", lambda *_: None)
        patch.setattr(JournalCopy, "add_notes", lambda *_: None)
        place.go_on("one")
        place.work("ended")
        place.note("amounts are whole cents")
    assert place.copy.list_problems()
    place.reopen()
    place.work("another")
    assert place.copy.list_problems() == []


def test_after_a_power_cut_files_that_may_not_have_been_flushed_are_looked_at_again(
    place: Place, monkeypatch: pytest.MonkeyPatch
):
    place.work("one")
    place.reopen()
    place.work("two")
    whole = place.files["journals/one.jsonl"]
    (place.copy.folder / "journals/one.jsonl").write_bytes(whole[: len(whole) // 2])
    place.reopen()
    place.work("three")
    assert place.files["journals/one.jsonl"] != whole, "it was complete, and within one run of the machine it stays so"
    monkeypatch.setattr(journal_copy, "read_time_since_boot", lambda: ("another start", 5.0))
    place.reopen()
    place.work("four")
    assert place.files["journals/one.jsonl"] == whole and place.copy.list_problems() == []


def test_a_changed_line_ends_what_is_believed_of_a_journal(place: Place):
    place.work("one", steps=3)
    path = place.copy.folder / "journals/one.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    lines[9] = lines[9].replace(b'"step":', b'"step":1', 1)
    path.write_bytes(b"".join(lines))
    place.lose_database()
    place.bring_back()
    assert place.project.store.load("one").head.seq == 9
    place.go_on("one")
    assert place.copy.list_problems() == [], "the damaged file was set aside, and a new one takes its place"
    assert (place.copy.folder / "journals/one.jsonl.old").read_bytes() == b"".join(lines)


def test_an_entry_whose_text_is_lost_ends_what_is_believed(place: Place):
    place.work("one", steps=3)
    path = place.copy.folder / "blocks/one.jsonl"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))
    place.lose_database()
    whole = len(place.files["journals/one.jsonl"].splitlines())
    place.bring_back()
    assert 0 < place.project.store.load("one").head.seq < whole


def test_what_is_rolled_back_is_not_copied(place: Place):
    place.work("one")
    before = place.files
    with pytest.raises(ZeroDivisionError), place.project.storage.transaction():
        place.go_on("one")
        place.work("two")
        raise ZeroDivisionError
    assert place.files == before
    with place.project.storage.transaction():
        place.go_on("one")
        assert place.files == before
    assert place.copy.list_problems() == []


def in_child(work: Callable[[], None]) -> int:
    child = os.fork()
    if child == 0:
        try:
            work()
        finally:
            os._exit(0)
    return child


def test_a_process_killed_at_any_write_of_the_copy_leaves_both_usable(projects: Projects):
    """Killed before or in the middle of each write; then the database goes on, or it is lost at that moment."""

    def die_in(point: int, place: Place) -> None:
        write, left = os.pwrite, [point]

        def pwrite(file: int, data: bytes, at: int) -> int:
            left[0] -= 1
            if left[0] < 0:
                write(file, data[: len(data) // 2], at)
                os.kill(os.getpid(), signal.SIGKILL)
            return write(file, data, at)

        os.pwrite = pwrite
        place.reopen()
        place.go_on("one")
        place.note("amounts are whole cents")
        place.work("two", steps=1)

    point, ended = 0, False
    while not ended:
        place = Place(projects)
        place.work("one", steps=1)
        place.project.storage.close()
        ended = os.waitpid(in_child(lambda point=point, place=place: die_in(point, place)), 0)[1] == 0
        journals = kept(place.reopen())[1]
        twin = Place(projects)
        shutil.copytree(place.copy.folder, twin.copy.folder, dirs_exist_ok=True)
        twin.bring_back()
        back = kept(twin.project)[1]
        assert all(journals[task][: len(hashes)] == hashes for task, hashes in back.items()), "nothing that was not committed"
        assert sum(map(len, journals.values())) - sum(map(len, back.values())) <= 7, "at most the last commit is missing"
        place.go_on("one")
        assert place.copy.list_problems() == [] and place.warnings == []
        point += 1
    assert point > 10


def test_processes_that_commit_at_the_same_time_leave_a_whole_copy(place: Place):
    place.work("shared")
    place.project.storage.close()

    def work(number: int) -> None:
        place.reopen()
        place.work(f"own-{number}", steps=5)
        for _ in range(10):
            place.note(f"by {number}")

    children = [in_child(lambda number=number: work(number)) for number in range(4)]
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * 4
    place.reopen()
    assert len(place.files["notebook.jsonl"].splitlines()) == 40 and place.copy.list_problems() == []


def test_threads_that_write_the_mark_at_the_same_time_do_not_meet(tmp_path: Path):
    faults = list[BaseException]()

    def write() -> None:
        try:
            for number in range(300):
                journal_copy.write_copy_mark(tmp_path, "database", number)
                assert journal_copy.read_copy_mark(tmp_path)
        except BaseException as fault:
            faults.append(fault)

    threads = [threading.Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == [] and [path.name for path in tmp_path.iterdir()] == ["copied.json"]


def test_a_copy_that_cannot_be_written_stops_no_task_and_is_told_once(place: Place):
    (place.folder / "export").write_text("a file in the way")
    place.work("one")
    place.note("amounts are whole cents")
    assert place.project.store.load("one").work.step == 2 and len(place.warnings) == 1
    (place.folder / "export").unlink()
    place.copy.rebuild()
    assert place.copy.list_problems() == []


def test_nothing_is_written_through_a_link(place: Place, tmp_path: Path):
    place.work("one")
    target = tmp_path / "elsewhere"
    target.write_bytes(b"mine\n")
    path = place.copy.folder / "journals/two.jsonl"
    path.symlink_to(target)
    place.work("two")
    assert target.read_bytes() == b"mine\n" and len(place.warnings) == 1
    path.unlink()
    place.copy.rebuild()
    folder = place.copy.folder / "journals"
    folder.rename(tmp_path / "moved")
    folder.symlink_to(tmp_path / "moved")
    before = content(tmp_path)
    place.reopen()
    place.go_on("two")
    assert content(tmp_path) == before


class Meter:
    """Bytes that are read and written by the copy."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.read = self.written = 0
        read, write = os.pread, os.pwrite

        def pread(file: int, size: int, at: int) -> bytes:
            data = read(file, size, at)
            self.read += len(data)
            return data

        def pwrite(file: int, data: bytes, at: int) -> int:
            self.written += len(data)
            return write(file, data, at)

        patch.setattr(os, "pread", pread)
        patch.setattr(os, "pwrite", pwrite)


def test_a_commit_costs_the_same_after_many_steps_and_tasks(place: Place, monkeypatch: pytest.MonkeyPatch):
    def measure() -> tuple[int, int]:
        meter = Meter(monkeypatch)
        place.go_on("one")
        return meter.read, meter.written

    place.work("one", steps=20)
    place.reopen()
    place.go_on("one")
    early = measure()
    for number in range(60):
        create_task(place.project.store, f"task-{number}")
    for _ in range(150):
        place.go_on("one")
    place.reopen()
    place.go_on("one")
    late = measure()
    assert late[0] <= early[0] + 4_096 and late[1] <= early[1] * 1.2


def test_a_process_looks_at_a_bounded_number_of_tasks(place: Place, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(journal_copy, "TASKS_PER_PASS", 5)
    with monkeypatch.context() as patch:
        patch.setattr(JournalCopy, "add_entries", lambda *_: None)
        for number in range(12):
            create_task(place.project.store, f"task-{number:02}")
    seen = list[int]()
    for _ in range(4):
        place.reopen()
        append_events(place.project.store, place.project.store.load("task-00"), [happened.TaskClaimed("me")])
        seen.append(len(list((place.copy.folder / "journals").iterdir())))
    assert seen[0] <= 6 and seen[-1] == 12 and place.copy.list_problems() == []
