"""The seams to what is kept: journal, queue, facts, notebook and ledger, and the Storage that opens them together."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from afresh.core.archived_block import Block
from afresh.core.event import Event, JournalEntry, JournalHead
from afresh.core.ledger import CallPayment, LedgerCall, PricedBooking, SpendingFilter, SpendingTally
from afresh.core.project_facts import FactCorrection, FactQuery, ProjectFact
from afresh.core.rate_limit import CallTurn, RateLimit
from afresh.core.spending import LimitAlert, LimitScope, LimitUnit, SpendingAccount, SpendingLimit, TrippedLimit
from afresh.core.state import State
from afresh.core.states.queue_state import StopRequest, WorkFigures
from afresh.core.task import ALL_TICKETS, QueueCounts, QueueTicket, TicketQuery
from afresh.ports.watch import Watcher


class JournalStore(Protocol):
    """The journal and the archive. One `append` is one durable, atomic commit."""

    def append(self, entries: Sequence[JournalEntry], blocks: Sequence[Block], state: State) -> None:
        """Write entries (of one task, next in its chain), blocks and the state they lead to. Conflict if the head has moved."""
        ...

    def load(self, task: str) -> State:
        """The state of a task, in time that does not depend on the number of steps. BadInput if there is no such task."""
        ...

    def journal(self, task: str) -> Iterator[JournalEntry]:
        """Every entry in order, each checked against the chain."""
        ...

    def read(self, block: str) -> str:
        """A block by its id, or by a prefix of at least six characters that fits only one. KeyError otherwise."""
        ...

    def find(self, prefix: str, task: str) -> Sequence[str]:
        """Ids that begin so, at most a few, of the blocks that this task was the first to keep."""
        ...


class StepJournal(JournalStore, Protocol):
    """A journal that can be read from the middle, so that a page of a long task reads only what it shows."""

    def check(self, task: str) -> None:
        """Damaged, with the task and the way back, unless every entry up to the head matches its hash."""
        ...

    def journal(self, task: str, after: JournalHead = JournalHead()) -> Iterator[JournalEntry]:
        """The entries from the beginning, or after the end of a commit."""
        ...

    def find_step(self, task: str, step: int) -> JournalHead:
        """Where the journal stood before the commit that requests the call of this step, or of the next one that has a call; its
        end if there is none. In time that grows with the logarithm of the steps."""
        ...


class TaskClaims(Protocol):
    """Which worker works on which task."""

    def claim(self, worker: str, task: str | None = None) -> str | None:
        """Take this task, or the next ready one: its id, or None if there is none. Exclusive; a dead owner's task is taken over.
        BadInput if the named task is held by a living worker, is over, or waits for others."""
        ...

    def renew(self, worker: str, task: str) -> StopRequest | None:
        """Keep the lease; return what a person asks of the worker. LeaseLost if somebody else has it."""
        ...

    def release(self, worker: str, task: str) -> None: ...

    def ask_to_stop(self, task: str, request: StopRequest) -> None:
        """Leave a request for the worker that holds the task. It stays until the task is held back or over."""
        ...


class TaskQueue(TaskClaims, Protocol):
    def tickets(self, which: TicketQuery = ALL_TICKETS) -> Sequence[QueueTicket]:
        """The tickets asked for; by default every task, in the order of creation."""
        ...

    def counts(self) -> QueueCounts:
        """Counts of all tasks, without reading them."""
        ...

    def figures(self, since: float = 0.0) -> WorkFigures:
        """How the tasks that were touched since then came to their end. Reads a row for each task."""
        ...


class Notebook(Protocol):
    """A journal that no task owns. Several processes may write to it."""

    @property
    def name(self) -> str:
        """The name that its entries have as their task."""
        ...

    def append(self, events: Sequence[Event]) -> Sequence[JournalEntry]:
        """Append events in one durable commit."""
        ...

    def extend(self, entries: Sequence[JournalEntry]) -> None:
        """Write entries from elsewhere as they are. Conflict if they do not continue the chain."""
        ...

    def head(self) -> JournalHead: ...

    def entries(self, after: JournalHead = JournalHead()) -> Iterator[JournalEntry]:
        """Entries in order, each checked against the one before it."""
        ...


class FactIndex(Protocol):
    """Facts of a project beyond the state of one task."""

    def look_up(self, question: FactQuery) -> Sequence[ProjectFact]:
        """Facts that hold, best first; in time that does not grow with their number."""
        ...

    def known(self, name: str) -> Sequence[ProjectFact]:
        """All that ever had this id, whether they hold or not."""
        ...

    def edits(self) -> Sequence[FactCorrection]:
        """Corrections and removals by persons, in order."""
        ...


class FactStore(FactIndex, Watcher, Protocol):
    """A fact index that learns from every commit, and can be made again from journals and notebooks."""

    def history(self, known: ProjectFact) -> Sequence[ProjectFact]:
        """All that was ever known about the same, oldest first."""
        ...

    def rebuild(self) -> None:
        """Forget everything and learn it again, in the order in which it happened."""
        ...


class CallStore(Protocol):
    """Calls of models, booked and paid. Each method is one transaction that no other process can come between."""

    def book(self, order: PricedBooking) -> int | TrippedLimit:
        """The number of the call, or the limit that stops it: then nothing is booked."""
        ...

    def settle(self, number: int, payment: CallPayment, limits: Sequence[SpendingLimit]) -> Sequence[LimitAlert]:
        """Pay what is booked. A call that is not booked, or no longer, stays as it is."""
        ...

    def cancel(self, number: int, note: str, refund: bool = True) -> None:
        """End a booking without payment. Without a refund the call stays at its worst-case cost, and is no longer open."""
        ...

    def enter(self, made: Sequence[tuple[PricedBooking, CallPayment]]) -> Sequence[LimitAlert]:
        """Calls that were never booked: nobody pays for them, or they come back from a journal."""
        ...

    def calls(self, which: SpendingFilter) -> Sequence[LedgerCall]:
        """Calls in the order in which they were made; empty if there is no ledger yet, and none is created."""
        ...


class LimitStore(Protocol):
    """What was spent against limits, and which limits have tripped."""

    def tally(self, account: SpendingAccount, scope: LimitScope, unit: LimitUnit) -> SpendingTally:
        """The sum that was spent, in time that does not depend on the number of calls."""
        ...

    def tripped(self, account: SpendingAccount | None = None) -> Sequence[TrippedLimit]:
        """All of them, or those that stop this account."""
        ...

    def alerts(self, most: int) -> Sequence[tuple[LimitAlert, float]]:
        """The latest, and when."""
        ...

    def reset(self, account: SpendingAccount, scope: LimitScope) -> Sequence[TrippedLimit]:
        """Stop counting what was spent so far against the limit, as a person asked; the tripped limits that it ended."""
        ...


class TurnStore(Protocol):
    """When calls under a rate limit may begin; one clock for all workers together."""

    def take_turn(self, model: str, tokens: int, limits: Sequence[RateLimit]) -> CallTurn:
        """Reserve the earliest time at which a call with so many tokens may begin (`find_turn`); one transaction."""
        ...

    def end_turn(self, number: int, tokens: int) -> None:
        """Correct its tokens to what the call has really used; 0: it was not made, and the turn is free."""
        ...


class LedgerStore(CallStore, LimitStore, TurnStore, Protocol):
    """The books of all projects and processes of a user."""


class StorageCopy(Protocol):
    """What is written beside the database with every commit, so that its loss is none."""

    @property
    def folder(self) -> Path: ...

    def list_problems(self) -> list[str]:
        """How it differs from what the database has. Nothing is changed."""
        ...

    def rebuild(self) -> list[str]:
        """Write again what differs; what only the copy has is left as it is, and named."""
        ...


@dataclass(frozen=True, slots=True)
class Storage:
    """Everything that is kept for a project. One implementation opens all of it."""

    journal: StepJournal
    queue: TaskQueue
    facts: FactStore
    notebook: Notebook
    user_notebook: Notebook
    """Shared by all projects of the user, as the ledger is."""
    ledger: LedgerStore
    transaction: Callable[[], AbstractContextManager[None]]
    """What is written to journal, notebook and queue within it is one atomic, durable commit; nothing if the body raises."""
    close: Callable[[], None]
    """Give the files back; the next use opens them again."""
    copy: StorageCopy | None = None
    """None: the user wants none, or a server has backups of its own."""
