"""Short stories to write into a store, for contract suites and other tests."""

from collections.abc import Sequence

from afresh.domain import event as happened
from afresh.domain.action import Action, Observation, Reply, Usage
from afresh.domain.chain import block_id, link
from afresh.domain.event import Entry, Event, Head
from afresh.domain.fact import Block, Fact, FactKind, IndexLine
from afresh.domain.fold import fold
from afresh.domain.state import State
from afresh.domain.task import Status, Task
from afresh.domain.window import Audit
from afresh.ports import Store


def block(text: str) -> Block:
    return Block(block_id(text), text)


def write(store: Store, state: State | None, events: Sequence[Event], blocks: Sequence[Block] = (), at: float = 1.0) -> State:
    """Append events after `state` (None: a new task) as one commit; the state that they lead to."""
    entries, after = continued(state, events, at)
    store.append(entries, blocks, after)
    return after


def continued(state: State | None, events: Sequence[Event], at: float = 1.0) -> tuple[tuple[Entry, ...], State]:
    """The entries that `write` would append, and the state after them."""
    task = state.task.id if state else next(event.task.id for event in events if isinstance(event, happened.Created))
    entries = link(task, state.head if state else Head(), at, events)
    return entries, fold(state, entries)


def create(store: Store, task: str = "one", priority: int = 0, needs: tuple[str, ...] = (), parent: str = "") -> State:
    order = Task(id=task, goal=f"goal of {task} — ünïcode ✓", priority=priority, needs=needs, parent=parent)
    return write(store, None, [happened.Created(order)])


def asked_and_answered(step: int) -> list[Event]:
    """The first half of a step: what is paid for."""
    reply = Reply(f"thought {step}", (Action("read", {"path": f"file{step}.py", "start": step}),), Usage(100, 10, 5), "fake")
    return [happened.Requested(step, Audit(f"{step:064x}", 4_000, 1_000 + step, (), ())), happened.Replied(step, reply)]


def acted(step: int, output: Block) -> list[Event]:
    """The second half: what came of it."""
    seen = Observation(Action("read", {"path": f"file{step}.py"}), True, f"digest {step}", output.id, len(output.text))
    return [
        happened.Acted(step, (seen,)),
        happened.Digested(
            facts=(Fact(FactKind.NOTE, f"file{step}.py", f"seen in step {step}", 0.5, output.id, step),),
            index=(IndexLine(output.id, "read", f"file{step}.py", len(output.text), "first words", step),),
        ),
        happened.Settled(step, True, f"snapshot{step}"),
        happened.Finished(step, f"outcome {step}"),
    ]


def take_step(store: Store, state: State) -> State:
    """One whole step in its two commits."""
    step = state.step + 1
    output = block(f"raw output of {state.task.id} in step {step}\n" * 40)
    return write(store, write(store, state, asked_and_answered(step)), acted(step, output), [output])


def end(store: Store, state: State, status: Status) -> State:
    return write(store, state, [happened.Ended(status, f"came to rest: {status}")])
