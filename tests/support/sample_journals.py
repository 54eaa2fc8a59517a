"""Short stories to write into a store, for contract suites and other tests."""

from collections.abc import Sequence

from afresh.core import event as happened
from afresh.core.action import Action, Observation
from afresh.core.archived_block import Block, BlockIndexLine, block_id_from_text
from afresh.core.event import Event, JournalEntry, JournalHead
from afresh.core.fact import Fact, FactKind
from afresh.core.hash_chain import link_events
from afresh.core.prompt import CallAudit
from afresh.core.reducer import fold_entries
from afresh.core.reply import Reply
from afresh.core.state import State
from afresh.core.task import Task, TaskStatus
from afresh.core.usage import Usage
from afresh.ports.storage import JournalStore


def make_block(text: str) -> Block:
    return Block(block_id_from_text(text), text)


def append_events(
    store: JournalStore, state: State | None, events: Sequence[Event], blocks: Sequence[Block] = (), at: float = 1.0
) -> State:
    """Append events after `state` (None: a new task) as one commit; the state that they lead to."""
    entries, after = make_entries(state, events, at)
    store.append(entries, blocks, after)
    return after


def make_entries(state: State | None, events: Sequence[Event], at: float = 1.0) -> tuple[tuple[JournalEntry, ...], State]:
    """The entries that `write` would append, and the state after them."""
    task = state.task.id if state else next(event.task.id for event in events if isinstance(event, happened.TaskCreated))
    entries = link_events(task, state.head if state else JournalHead(), at, events)
    return entries, fold_entries(state, entries)


def create_task(
    store: JournalStore, task: str = "one", priority: int = 0, needs: tuple[str, ...] = (), parent: str = ""
) -> State:
    order = Task(id=task, goal=f"goal of {task} — ünïcode ✓", priority=priority, needs=needs, parent=parent)
    return append_events(store, None, [happened.TaskCreated(order)])


def make_call_events(step: int) -> list[Event]:
    """The first half of a step: what is paid for."""
    reply = Reply(f"thought {step}", (Action("read", {"path": f"file{step}.py", "start": step}),), Usage(100, 10, 5), "fake")
    return [
        happened.CallRequested(step, CallAudit(f"{step:064x}", 4_000, 1_000 + step, (), ())),
        happened.ReplyReceived(step, reply),
    ]


def make_action_events(step: int, output: Block) -> list[Event]:
    """The second half: what came of it."""
    seen = Observation(Action("read", {"path": f"file{step}.py"}), True, f"digest {step}", output.id, len(output.text))
    return [
        happened.ActionsExecuted(step, (seen,)),
        happened.OutputDigested(
            facts=(Fact(FactKind.NOTE, f"file{step}.py", f"seen in step {step}", 0.5, output.id, step),),
            index=(BlockIndexLine(output.id, "read", f"file{step}.py", len(output.text), "first words", step),),
        ),
        happened.ChangeKeptOrReverted(step, True, f"{step:040x}"),
        happened.StepFinished(step, f"outcome {step}"),
    ]


def append_step(store: JournalStore, state: State) -> State:
    """One whole step in its two commits."""
    step = state.work.step + 1
    output = make_block(f"raw output of {state.task.id} in step {step}\n" * 40)
    return append_events(store, append_events(store, state, make_call_events(step)), make_action_events(step, output), [output])


def end_task(store: JournalStore, state: State, status: TaskStatus) -> State:
    return append_events(store, state, [happened.TaskEnded(status, f"came to rest: {status}")])
