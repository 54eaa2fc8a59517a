"""Plausible journals, written by the protocol of a step, with whatever text hypothesis can think of."""

from collections.abc import Sequence
from pathlib import Path

from hypothesis import strategies as st

from afresh.core import event as happened
from afresh.core import token_calibration
from afresh.core.action import Action, Observation
from afresh.core.archived_block import BlockIndexLine
from afresh.core.decision import Decision
from afresh.core.event import Event, JournalEntry
from afresh.core.fact import Fact, FactKind, FactScope
from afresh.core.prompt import CallAudit, SectionRef, Tier
from afresh.core.reply import Reply
from afresh.core.state import State
from afresh.core.states import ceiling_state
from afresh.core.states.strategy_state import PlanItem
from afresh.core.task import Check, Task, TaskStatus
from afresh.core.usage import Usage
from afresh.core.verdict import Baseline, CheckRun, FailedTest, Ruling, Verdict
from afresh.ports.storage import JournalStore, TaskQueue
from afresh.storage.sql.journal import SqlJournal
from afresh.storage.sql.queue import SqlQueue
from afresh.storage.sqlite.database import Database
from support.fakes import FakeClock, MemoryQueue, MemoryStore
from support.sample_journals import make_entries

texts = st.text(st.characters(codec="utf-8") | st.sampled_from("\x1b\u202e\u200b\n\r\t`|>#-"), max_size=60)
speakers = st.sampled_from(["model", "person"])
numbers = st.integers(0, 5_000)
snapshots = st.sampled_from(["s0", "s1", "s2"])
paths = st.lists(st.sampled_from(["a.py", "b/c.py", "t|e`s.py"]), max_size=3, unique=True).map(tuple)
runs = st.builds(
    CheckRun,
    command=st.sampled_from(["pytest -q", "ruff check"]),
    exit=st.sampled_from([0, 1]),
    scope=st.sampled_from(["full", "targeted: tests/test_a.py"]),
    passed=numbers,
    failed=st.integers(0, 3),
    failures=st.lists(st.builds(FailedTest, test=texts, message=texts), max_size=2).map(tuple),
    timed_out=st.booleans(),
)
verdicts = st.builds(
    Verdict,
    ruling=st.sampled_from(Ruling),
    finding=texts,
    runs=st.lists(runs, max_size=2).map(tuple),
    regressions=st.lists(texts, max_size=1).map(tuple),
    final=st.booleans(),
    measure=st.integers(0, 4),
)
actions = st.builds(
    Action, tool=st.sampled_from(["read", "edit", "run"]), args=st.dictionaries(st.sampled_from(["path", "text"]), texts)
)


class Project:
    """A store and its queue."""

    def __init__(self, store: JournalStore, queue: TaskQueue) -> None:
        self.store, self.queue = store, queue
        self.states: dict[str, State] = {}

    def commit(self, task: str, events: Sequence[Event], at: float) -> tuple[State, tuple[JournalEntry, ...]]:
        entries, state = make_entries(self.states.get(task), events, at)
        self.store.append(entries, (), state)
        self.states[task] = state
        return state, entries


def in_memory() -> Project:
    store = MemoryStore()
    return Project(store, MemoryQueue(store, FakeClock()))


def on_disk(folder: Path) -> Project:
    database = Database(folder / "afresh.db")
    return Project(SqlJournal(database), SqlQueue(database, FakeClock()))


@st.composite
def commits(draw: st.DrawFn, task: str, needs: tuple[str, ...] = ()) -> list[list[Event]]:
    """The events of one task, commit by commit; it may stop anywhere."""
    order = Task(id=task, goal=draw(texts), checks=(Check("pytest -q"),), needs=needs, priority=draw(st.integers(0, 2)))
    done: list[list[Event]] = [[happened.TaskCreated(order)], [happened.TaskClaimed("worker-1")]]
    done.append(
        [happened.WorkspaceOpened("base0", f"afresh/{task}", "s0", draw(texts)), happened.BaselineMeasured(draw(baselines))]
    )
    for step in range(1, draw(st.integers(0, 4)) + 1):
        done += draw(st.lists(ceilings(step - 1), max_size=1))
        done += draw(steps(step))
    if draw(st.booleans()):
        done.append(
            [
                happened.VerdictReached(9, draw(verdicts)),
                happened.TaskEnded(draw(st.sampled_from([TaskStatus.DONE, TaskStatus.FAILED])), draw(texts)),
            ]
        )
        if draw(st.booleans()):
            done.append([happened.TaskEnded(TaskStatus.APPLIED, draw(texts), "c0ffee")])
    return done[: draw(st.integers(1, len(done)))]


baselines = st.builds(Baseline, runs=st.lists(runs, max_size=2).map(tuple), flaky=st.lists(texts, max_size=2).map(tuple))


@st.composite
def steps(draw: st.DrawFn, step: int) -> list[list[Event]]:
    chosen = tuple(draw(st.lists(actions, max_size=2)))
    audit = CallAudit("h", 4000, draw(numbers), (SectionRef("task", Tier.ALWAYS, "b", 10),), ())
    reply = Reply(draw(texts), chosen, Usage(draw(numbers), draw(numbers)), "m")
    first: list[Event] = [happened.CallRequested(step, audit), happened.ReplyReceived(step, reply)]
    first += draw(
        st.sampled_from(
            [
                [],
                [token_calibration.CeilingBreached(step, 10, 5_000, 9, 4_000)],
                [token_calibration.UsageReportDoubted(step, 10, 90_000)],
            ]
        )
    )
    seen = tuple(Observation(action, draw(st.booleans()), draw(texts)) for action in chosen)
    second: list[Event] = [happened.ActionsExecuted(step, seen), *draw(st.lists(asides(step), max_size=3))]
    if draw(st.booleans()):
        second.append(happened.VerdictReached(step, draw(verdicts)))
    second.append(happened.ChangeKeptOrReverted(step, draw(st.booleans()), draw(snapshots), draw(paths), why=draw(texts)))
    second.append(happened.StepFinished(step, draw(texts)))
    if draw(st.booleans()):
        return [first, second]
    second += [happened.QuestionAsked(draw(texts), ("yes", "no")), happened.TaskEnded(TaskStatus.BLOCKED, "asked")]
    return [first, second, [happened.QuestionAnswered(draw(texts))], [happened.TaskClaimed("worker-2")]]


def ceilings(step: int) -> st.SearchStrategy[list[Event]]:
    """What may be committed between two steps."""
    raised = st.builds(ceiling_state.CeilingChanged, st.just(step), st.just(4_000), st.sampled_from([4_000, 8_000]), texts)
    return st.one_of(
        raised.map(lambda event: [event]),
        st.tuples(raised, st.builds(happened.CheckpointWritten, st.just(step), texts)).map(list),
    )


def asides(step: int) -> st.SearchStrategy[Event]:
    facts = st.builds(
        Fact, kind=st.sampled_from(FactKind), subject=texts, text=texts, confidence=st.sampled_from([0.5, 1.0]),
        scope=st.sampled_from(FactScope),
    )  # fmt: skip
    lines = st.just((BlockIndexLine("b", "run", "pytest", 10, "phrase", step),))
    return st.one_of(
        st.builds(happened.DecisionMade, st.builds(Decision, text=texts, by=speakers, why=texts, step=st.just(step))),
        st.builds(happened.PlanSet, st.lists(st.builds(PlanItem, text=texts, done=st.booleans()), max_size=3).map(tuple)),
        st.builds(happened.OutputDigested, facts=st.lists(facts, max_size=2).map(tuple), index=lines),
    )  # fmt: skip


@st.composite
def projects(draw: st.DrawFn) -> list[tuple[str, list[Event]]]:
    """Commits of up to three tasks, in an order that keeps each task's own."""
    pending = {
        "one": draw(commits("one")),
        "two": draw(commits("two", needs=("one",))),
        "../thr ee": draw(commits("../thr ee")),
    }
    order: list[tuple[str, list[Event]]] = []
    while pending:
        task = draw(st.sampled_from(sorted(pending)))
        order.append((task, pending[task].pop(0)))
        if not pending[task]:
            del pending[task]
    return order
