"""The queue on SQLite does what the plain one in memory does, whatever happens in whichever order."""

import tempfile
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from afresh.core import event as happened
from afresh.core.states.queue_state import (
    AttemptFailed,
    FailureCause,
    HoldChanged,
    HoldKind,
    PlaceChanged,
    StopAct,
    StopRequest,
    TaskHold,
)
from afresh.core.task import TaskStatus
from afresh.errors import AfreshError
from afresh.storage.sql.journal import SqlJournal
from afresh.storage.sql.queue import SqlQueue
from afresh.storage.sqlite.database import Database
from support.fakes import FakeClock, MemoryQueue, MemoryStore
from support.sample_journals import append_events, create_task, end_task

WORKERS = st.sampled_from(["a", "b", "c"])
TASKS = st.integers(0, 5).map(lambda number: f"task{number}")


class Queues(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        database = Database(Path(self.folder.name) / "afresh.db")
        self.clock = FakeClock()
        self.stores = (MemoryStore(), SqlJournal(database))
        self.queues = (MemoryQueue(self.stores[0], self.clock), SqlQueue(database, self.clock))
        self.tasks: list[str] = []
        self.held: dict[str, tuple[str, float]] = {}

    @precondition(lambda self: len(self.tasks) < 6)
    @rule(priority=st.integers(-1, 1), needs=st.sets(TASKS, max_size=2))
    def add(self, priority: int, needs: set[str]) -> None:
        name = f"task{len(self.tasks)}"
        self.tasks.append(name)
        for store in self.stores:
            create_task(store, name, priority, tuple(sorted(needs - {name})))

    @rule(worker=WORKERS, task=st.none() | TASKS)
    def claim(self, worker: str, task: str | None) -> None:
        got = self.both(lambda queue: queue.claim(worker, task))
        if isinstance(got, str):
            owner, until = self.held.get(got, ("", 0.0))
            assert owner in ("", worker) or until <= self.clock.now(), "two living owners"
            self.held[got] = (worker, self.clock.now() + 20)
            for store in self.stores:
                append_events(store, store.load(got), [happened.TaskClaimed(worker)])

    @rule(worker=WORKERS, task=TASKS)
    def renew(self, worker: str, task: str) -> None:
        if not isinstance(self.both(lambda queue: queue.renew(worker, task)), type):
            self.held[task] = (worker, self.clock.now() + 20)

    @rule(worker=WORKERS, task=TASKS)
    def release(self, worker: str, task: str) -> None:
        self.both(lambda queue: queue.release(worker, task))
        if self.held.get(task, ("",))[0] == worker:
            del self.held[task]

    @precondition(lambda self: self.tasks)
    @rule(data=st.data(), status=st.sampled_from(TaskStatus))
    def come_to_rest(self, data: st.DataObject, status: TaskStatus) -> None:
        task = data.draw(st.sampled_from(self.tasks))
        for store in self.stores:
            end_task(store, store.load(task), status)

    @precondition(lambda self: self.tasks)
    @rule(data=st.data(), priority=st.none() | st.integers(-1, 1), needs=st.sets(TASKS, max_size=2))
    def change_place(self, data: st.DataObject, priority: int | None, needs: set[str]) -> None:
        task = data.draw(st.sampled_from(self.tasks))
        for store in self.stores:
            append_events(store, store.load(task), [PlaceChanged(tuple(sorted(needs - {task})), priority=priority)])

    @precondition(lambda self: self.tasks)
    @rule(data=st.data(), kind=st.none() | st.sampled_from(HoldKind))
    def hold_or_release(self, data: st.DataObject, kind: HoldKind | None) -> None:
        task = data.draw(st.sampled_from(self.tasks))
        for store in self.stores:
            append_events(store, store.load(task), [HoldChanged(TaskHold(kind) if kind else None)])

    @precondition(lambda self: self.tasks)
    @rule(data=st.data(), wait=st.sampled_from([0, 1, 20]))
    def fail_attempt(self, data: st.DataObject, wait: int) -> None:
        task, again = data.draw(st.sampled_from(self.tasks)), self.clock.now() + wait
        for store in self.stores:
            append_events(store, store.load(task), [AttemptFailed(FailureCause.PROVIDER, "away", again)])

    @precondition(lambda self: self.tasks)
    @rule(data=st.data(), act=st.sampled_from(StopAct))
    def ask_to_stop(self, data: st.DataObject, act: StopAct) -> None:
        task = data.draw(st.sampled_from(self.tasks))
        if task in self.held and not self.stores[0].load(task).status.over:
            self.both(lambda queue: queue.ask_to_stop(task, StopRequest(act)))

    @rule(seconds=st.sampled_from([1, 9, 19, 20, 21]))
    def time_passes(self, seconds: int) -> None:
        self.clock.move(seconds)

    def both(self, ask):
        answers = [answered(ask, queue) for queue in self.queues]
        assert answers[0] == answers[1]
        return answers[0]

    @invariant()
    def tickets_agree(self) -> None:
        assert list(self.queues[0].tickets()) == list(self.queues[1].tickets())
        assert self.queues[0].figures() == self.queues[1].figures()
        assert self.queues[0].counts().waiting == self.queues[1].counts().waiting

    def teardown(self) -> None:
        self.stores[1].close()
        self.folder.cleanup()


def answered(ask, queue):
    try:
        return ask(queue)
    except AfreshError as refused:
        return type(refused)


TestQueues = Queues.TestCase
TestQueues.settings = settings(max_examples=settings.default.max_examples * 3 // 5, stateful_step_count=20)
