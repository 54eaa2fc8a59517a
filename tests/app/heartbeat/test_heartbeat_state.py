"""What is known of heartbeats follows from the notebook; a file that keeps it saves reading, and is never used against it."""

import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afresh.app.heartbeat.heartbeat_state import (
    MAX_ENTRIES_AFTER_SNAPSHOT,
    SNAPSHOT_FILE_NAME,
    HeartbeatSnapshot,
    encode_snapshot,
    load_heartbeat_state,
    read_snapshot,
)
from afresh.app.project import Project, open_project
from afresh.core.event import Event, JournalEntry, JournalHead
from afresh.core.heartbeat import (
    HeartbeatBegan,
    HeartbeatEnded,
    HeartbeatPaused,
    HeartbeatState,
    ItemCheck,
    ScheduleAdded,
    ScheduleFired,
    ScheduleRemoved,
    fold_heartbeat_event,
)
from afresh.core.schedule import Schedule
from afresh.ports.storage import Notebook

BEATS = 200


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    root = tmp_path / "repo"
    root.mkdir()
    for command in (
        ["init", "-q"],
        ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "first"],
    ):
        subprocess.run(["git", *command], cwd=root, check=True)
    return open_project(root)


@dataclass
class CountingNotebook:
    """A notebook that counts the entries that were read."""

    inner: Notebook
    read: int = 0

    @property
    def name(self) -> str:
        return self.inner.name

    def append(self, events: Sequence[Event]) -> Sequence[JournalEntry]:
        return self.inner.append(events)

    def extend(self, entries: Sequence[JournalEntry]) -> None:
        self.inner.extend(entries)

    def head(self) -> JournalHead:
        return self.inner.head()

    def entries(self, after: JournalHead = JournalHead()) -> Iterator[JournalEntry]:
        for entry in self.inner.entries(after):
            self.read += 1
            yield entry


def make_beat(number: int) -> list[Event]:
    check = ItemCheck("item", "tests pass", output=f"{number} passed", changed=True, tokens=300)
    return [HeartbeatBegan("worker", float(number)), HeartbeatEnded(float(number), (check,))]


def fold_all(project: Project) -> HeartbeatState:
    state = HeartbeatState()
    for entry in project.notebook.entries():
        state = fold_heartbeat_event(state, entry.event)
    return state


def test_a_look_after_many_beats_reads_as_few_entries_as_after_few(here: Project):
    notebook = CountingNotebook(here.notebook)
    project = replace(here, storage=replace(here.storage, notebook=notebook))
    most = 0
    for number in range(BEATS):
        project.notebook.append(make_beat(number))
        notebook.read = 0
        load_heartbeat_state(project)
        most = max(most, notebook.read)
    assert most <= MAX_ENTRIES_AFTER_SNAPSHOT
    assert load_heartbeat_state(project).items["item"].calls == BEATS


def test_a_file_that_is_gone_or_damaged_or_of_another_notebook_changes_nothing(here: Project):
    for number in range(MAX_ENTRIES_AFTER_SNAPSHOT):
        here.notebook.append(make_beat(number))
    path, known = here.paths.state / SNAPSHOT_FILE_NAME, load_heartbeat_state(here)
    kept = read_snapshot(path)
    assert kept.state == known
    strange = replace(kept, state=HeartbeatState(paused=True))
    foreign = [replace(strange, head=JournalHead(seq, "0" * 64)) for seq in (1, kept.head.seq, kept.head.seq + 9)]
    for text in ("", "{", "[]", '{"shape": 1}', path.read_text()[:-9], *map(encode_snapshot, foreign)):
        path.write_text(text)
        assert load_heartbeat_state(here) == known, text[:60]
    path.unlink()
    assert load_heartbeat_state(here) == known


def test_the_state_within_a_transaction_that_fails_is_not_believed_later(here: Project):
    for number in range(MAX_ENTRIES_AFTER_SNAPSHOT):
        here.notebook.append(make_beat(number))
    with pytest.raises(ZeroDivisionError), here.storage.transaction():
        here.notebook.append([HeartbeatPaused(True)])
        assert load_heartbeat_state(here).paused
        raise ZeroDivisionError
    assert not load_heartbeat_state(here).paused
    here.notebook.append(make_beat(0))
    assert load_heartbeat_state(here) == fold_all(here)


names = st.sampled_from(["a", "b", "c"])
events = st.one_of(
    st.builds(HeartbeatBegan, names, st.floats(0, 9)),
    st.builds(HeartbeatEnded, st.floats(0, 9), st.tuples(st.builds(ItemCheck, names, st.text(), output=st.none() | st.text()))),
    st.builds(HeartbeatPaused, st.booleans()),
    st.builds(ScheduleAdded, st.builds(Schedule, names, st.text(), every=st.integers(60, 99)), st.floats(0, 9)),
    st.builds(ScheduleRemoved, names),
    st.builds(ScheduleFired, names, st.floats(0, 9), names),
)


@given(st.lists(events, max_size=40))
def test_any_state_comes_back_from_its_file(happened: list[Event]):
    state = HeartbeatState()
    for event in happened:
        state = fold_heartbeat_event(state, event)
    snapshot = HeartbeatSnapshot(JournalHead(len(happened), "ab"), state)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / SNAPSHOT_FILE_NAME
        path.write_text(encode_snapshot(snapshot), "utf-8")
        assert read_snapshot(path) == snapshot
