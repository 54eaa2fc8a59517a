"""What a step costs in files does not grow with steps or tasks."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from journals import Project, in_memory

from afresh.core import event as happened
from afresh.core.event import Event
from afresh.core.prompt import CallAudit, Omission, SectionRef, Tier
from afresh.core.state import State
from afresh.core.task import Task, TaskStatus
from afresh.views import file_io as files
from afresh.views import task_history
from afresh.views.write_files import ViewWriter
from support.sample_journals import make_action_events, make_block, make_call_events


class Meter:
    """Bytes that are written and read, files that are touched, and what is asked of the store."""

    def __init__(self, project: Project, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self.counts = dict.fromkeys(("written", "read", "files", "loads", "tickets"), 0)
        write, read, load = files._write_text, files.read_text_file, project.store.load

        def writing(path: Path, text: str, flags: int) -> None:
            self.add(written=len(text.encode()), files=1)
            write(path, text, flags)

        def reading(path: Path) -> str:
            text = read(path)
            self.add(read=len(text.encode()), files=1)
            return text

        patch.setattr(files, "_write_text", writing)
        patch.setattr(files, "read_text_file", reading)
        patch.setattr(project.store, "load", lambda task: self.add(loads=1) or load(task))
        self.project = project
        tickets = project.queue.tickets
        patch.setattr(project.queue, "tickets", lambda *which: self.add(tickets=1) or tickets(*which))
        self.writer = ViewWriter(folder, project.store, project.queue, pytest.fail)

    def add(self, **more: int) -> None:
        for name, number in more.items():
            self.counts[name] += number

    def commit(self, task: str, events: Sequence[Event], watched: bool = True) -> State:
        state, entries = self.project.commit(task, events, at=1_700_000_000.0)
        if watched:
            self.writer.saw(state, entries)
        return state

    def step(self, number: int, watched: bool = True) -> dict[str, int]:
        self.counts = dict.fromkeys(self.counts, 0)
        sections = tuple(SectionRef(name, Tier.PHASE, "ab" * 32, 400) for name in ("task", "work", "files"))
        omissions = tuple(Omission("work", f"step {number} line {line}", 10, "less likely to be needed") for line in range(30))
        audit = CallAudit(f"{number:064x}", 4_000, 2_000 + number, sections, (), omissions, 1_000, model="m")
        self.commit("t", [happened.CallRequested(number, audit), *make_call_events(number)[1:]], watched)
        self.commit("t", make_action_events(number, make_block(f"raw output of step {number}\n" * 40)), watched)
        return dict(self.counts)


@pytest.fixture
def meter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Meter:
    made = Meter(in_memory(), tmp_path, monkeypatch)
    made.commit("t", [happened.TaskCreated(Task(id="t", goal="goal " * 30, max_steps=5_000))])
    made.commit("t", [happened.TaskClaimed("w")])
    return made


def alike(one: dict[str, int], other: dict[str, int]) -> bool:
    return all(abs(one[name] - other[name]) <= 0.2 * max(one[name], other[name]) for name in one)


def test_step_1000_writes_and_reads_what_step_60_did(meter: Meter) -> None:
    """By step 60 a state holds all the facts that it may; at step 10 there is less to tell."""
    first = [meter.step(number) for number in range(1, 11)][-1]
    early = [meter.step(number, watched=number > 55) for number in range(11, 61)][-1]
    late = [meter.step(number, watched=number > 995) for number in range(61, 1_001)][-1]
    assert first["written"] > 5_000 and first["loads"] == first["tickets"] == 0
    assert alike(early, late), (early, late)
    assert first["files"] == late["files"] and late["written"] < 1.6 * first["written"]


def test_a_step_beside_500_other_tasks_costs_what_it_does_alone(meter: Meter) -> None:
    alone = [meter.step(number) for number in range(1, 11)][-1]
    for number in range(500):
        task = f"other-{number}"
        meter.commit(task, [happened.TaskCreated(Task(id=task, goal="another"))], watched=False)
        ends = [happened.TaskEnded(TaskStatus.DONE, "done")] if number % 2 else [happened.TaskClaimed("w")]
        meter.commit(task, ends, watched=False)
    meter.commit("t", [happened.TaskClaimed("w")])
    among = [meter.step(number) for number in range(11, 14)][-1]
    assert alike({**alone, "written": 0, "read": 0}, {**among, "written": 0, "read": 0}), (alone, among)
    assert abs(alone["written"] - among["written"]) < 6_000, "rows of other tasks in continuity, and no more"


def test_the_end_of_a_task_costs_the_same_after_any_number_of_finished_ones(meter: Meter) -> None:
    def end(number: int, watched: bool = True) -> dict[str, int]:
        task = f"other-{number:04}"
        meter.commit(task, [happened.TaskCreated(Task(id=task, goal="another"))], watched)
        meter.counts = dict.fromkeys(meter.counts, 0)
        meter.commit(task, [happened.TaskEnded(TaskStatus.DONE, "done")], watched)
        return dict(meter.counts)

    early = [end(number, watched=number > 245) for number in range(250)][-1]
    late = [end(number, watched=number > 495) for number in range(250, 500)][-1]
    assert alike(early, late), (early, late)
    assert len((meter.writer.folder / "history.jsonl").read_text().splitlines()) == task_history.MAX_HISTORY_TASKS
