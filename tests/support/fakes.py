"""Fakes of the store, the queue and the clock: no files, same promises."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from hashlib import sha256

from afresh.core import archived_block as block_module
from afresh.core import hash_chain
from afresh.core.action import PLAIN_MANNER, CommandRun, RunManner
from afresh.core.archived_block import Block
from afresh.core.context_item import Item
from afresh.core.event import JournalEntry, JournalHead, TaskEnded
from afresh.core.line_region import Region
from afresh.core.network_access import NO_NETWORK, NetworkAccess
from afresh.core.prompt import Request
from afresh.core.reply import Reply
from afresh.core.state import State, make_ticket_detail, make_ticket_marks
from afresh.core.states.queue_state import HoldChanged, StopRequest, WorkFigures
from afresh.core.symbol import SearchHit, Symbol
from afresh.core.task import ALL_TICKETS, QueueCounts, QueueTicket, TaskStatus, TicketOrder, TicketQuery, UnmetNeed
from afresh.core.usage import Usage
from afresh.core.verdict import UnfixedFunction
from afresh.errors import BadInput, Broken, Conflict, LeaseLost, ModelMistake, NeedsAnswer, NotPossible
from afresh.ports.model import ReplyListener, ignore_piece
from afresh.ports.watch import Clock
from afresh.ports.workspace import FileTree


class FakeClock:
    """Stands still until it is moved."""

    def __init__(self, at: float = 1_700_000_000.0) -> None:
        self.at = at

    def now(self) -> float:
        return self.at

    def move(self, seconds: float) -> None:
        self.at += seconds


class MemoryStore:
    def __init__(self) -> None:
        self.states: dict[str, State] = {}
        self._journals: dict[str, list[JournalEntry]] = {}
        self._blocks: dict[str, str] = {}
        self._owners: dict[str, str] = {}

    def append(self, entries: Sequence[JournalEntry], blocks: Sequence[Block], state: State) -> None:
        task = state.task.id
        at = self.states[task].head if task in self.states else JournalHead()
        for entry in entries:
            if entry.seq != at.seq + 1 or entry.hash != hash_chain.hash_entry(at.hash, entry.body):
                raise Conflict(f"the journal of {task} stands at entry {at.seq}; entry {entry.seq} does not follow from it")
            at = JournalHead(entry.seq, entry.hash)
        if not entries or at != state.head or any(entry.task != task for entry in entries):
            raise Broken("the state does not stand at the last of the entries that lead to it")
        if any(block.id != block_module.block_id_from_text(block.text) for block in blocks):
            raise Broken("a block is not named by its content")
        self._journals.setdefault(task, []).extend(entries)
        self._blocks.update({block.id: block.text for block in blocks})
        for block in blocks:
            self._owners.setdefault(block.id, task)
        self.states[task] = state

    def load(self, task: str) -> State:
        if task not in self.states:
            raise BadInput(f"no such task: {task}", next="`afresh status --all` lists the tasks")
        return self.states[task]

    def journal(self, task: str) -> Iterator[JournalEntry]:
        self.load(task)
        yield from tuple(self._journals[task])

    def read(self, block: str) -> str:
        found = [name for name in self._blocks if name.startswith(block)]
        if len(block) < 6 or len(found) != 1:
            raise KeyError(block)
        return self._blocks[found[0]]

    def find(self, prefix: str, task: str) -> Sequence[str]:
        return sorted(
            name for name, owner in self._owners.items() if len(prefix) >= 6 and name.startswith(prefix) and owner == task
        )


class MemoryQueue:
    """Over a MemoryStore. Of workers in `alive_by_worker` it is known whether they live; the lease of any other runs out."""

    def __init__(self, store: MemoryStore, clock: Clock, lease_seconds: float = 20.0) -> None:
        self._store, self._clock, self._lease_seconds = store, clock, lease_seconds
        self._leases: dict[str, tuple[str, float]] = {}
        self._requests: dict[str, tuple[int, StopRequest]] = {}
        """By task, with the head of its journal."""
        self.alive_by_worker: dict[str, bool] = {}

    def claim(self, worker: str, task: str | None = None) -> str | None:
        lines = {ticket.task: ticket for ticket in self.tickets()}
        if task is None:
            ready = [ticket for ticket in lines.values() if ticket.ready]
            ready.sort(key=lambda ticket: (ticket.status is not TaskStatus.RUNNING, -ticket.priority))
            task = ready[0].task if ready else None
        elif task not in lines or lines[task].parent or not _can_be_claimed(lines[task], worker):
            raise self._refuse(task, lines.get(task))
        if task:
            self._leases[task] = (worker, self._clock.now() + self._lease_seconds)
        return task

    def renew(self, worker: str, task: str) -> StopRequest | None:
        if self._leases.get(task, ("",))[0] != worker:
            raise LeaseLost(f"{task} is no longer held by {worker}")
        self._leases[task] = (worker, self._clock.now() + self._lease_seconds)
        since, request = self._requests.get(task, (0, None))
        later = [entry.event for entry in self._store.journal(task) if entry.seq > since] if request else []
        is_done = any(
            (isinstance(event, HoldChanged) and event.hold) or (isinstance(event, TaskEnded) and event.status.over)
            for event in later
        )
        return None if is_done else request

    def ask_to_stop(self, task: str, request: StopRequest) -> None:
        self._requests[task] = (self._store.load(task).head.seq, request)

    def release(self, worker: str, task: str) -> None:
        if self._leases.get(task, ("",))[0] == worker:
            del self._leases[task]

    def tickets(self, which: TicketQuery = ALL_TICKETS) -> Sequence[QueueTicket]:
        found = [self._ticket(state) for state in self._store.states.values() if _is_asked_for(state, which)]
        if which.order is not TicketOrder.QUEUE:
            found.reverse()
        if which.order is TicketOrder.TOUCHED:
            found.sort(key=lambda ticket: ticket.detail.updated if ticket.detail else 0.0, reverse=True)
        if which.order is TicketOrder.TURN:
            found = sorted(found[::-1], key=lambda ticket: (bool(ticket.parent), _has_to_wait(ticket), -ticket.priority))
        if which.order is TicketOrder.DUE:
            found = sorted(found[::-1], key=lambda ticket: (not ticket.marks.due, ticket.marks.due))
        return found[: which.most or None]

    def counts(self) -> QueueCounts:
        tasks = self.tickets(TicketQuery(parents=()))
        return QueueCounts(
            Counter(ticket.status for ticket in tasks),
            sum(bool(ticket.detail and ticket.detail.question) for ticket in tasks),
            sum(ticket.status in (TaskStatus.READY, TaskStatus.RUNNING) and _has_to_wait(ticket) for ticket in tasks),
        )

    def figures(self, since: float = 0.0) -> WorkFigures:
        known = [state for state in self._store.states.values() if not state.task.parent and state.contexts]
        known = [state for state in known if state.times.updated >= since]
        finished = [state for state in known if state.status.satisfies]
        tries = [state.times.attempts for state in known]
        return WorkFigures(
            len(finished),
            sum(state.contexts < 2 for state in finished),
            sum(one.resumes for one in tries),
            sum(one.resumed for one in tries),
        )

    def _ticket(self, state: State) -> QueueTicket:
        task = state.task
        worker, expires = self._leases.get(task.parent or task.id, ("", 0.0))
        owner = worker if self.alive_by_worker.get(worker, expires > self._clock.now()) else ""
        open = state.status in (TaskStatus.READY, TaskStatus.RUNNING) and not owner and not task.parent
        unmet = tuple(UnmetNeed(need, self._find_status(need)) for need in self._waiting(state.place.needs))
        order = (task.id, task.goal, task.type, state.status, state.place.priority, state.place.needs)
        marks = make_ticket_marks(state)
        ready = open and not unmet and not marks.hold and not marks.conversation and marks.retry_at <= self._clock.now()
        return QueueTicket(*order, ready, owner, task.parent, make_ticket_detail(state), unmet, marks)

    def _find_status(self, task: str) -> TaskStatus | None:
        return self._store.states[task].status if task in self._store.states else None

    def _waiting(self, needs: Sequence[str]) -> list[str]:
        done = {task for task, state in self._store.states.items() if state.status.satisfies}
        return [task for task in needs if task not in done]

    def _refuse(self, task: str, ticket: QueueTicket | None) -> BadInput:
        if ticket is None:
            return BadInput(f"{task}: there is no such task")
        if ticket.parent:
            return BadInput(f"{task} is a subtask of {ticket.parent}")
        if ticket.owner or ticket.status.over:
            return NotPossible(f"{task}: {ticket.owner} is working on it" if ticket.owner else f"{task} is {ticket.status}")
        if ticket.status is TaskStatus.BLOCKED:
            return NeedsAnswer(f"{task} is blocked, its question is open")
        if ticket.marks.hold:
            return NeedsAnswer(f"{task} is {ticket.marks.hold.kind}: {ticket.marks.hold.reason}")
        return NeedsAnswer(f"{task} waits for {', '.join(self._waiting(ticket.needs))}")


def _can_be_claimed(ticket: QueueTicket, worker: str) -> bool:
    return ticket.can_be_named or ticket.owner == worker


def _has_to_wait(ticket: QueueTicket) -> bool:
    return bool(ticket.unmet or ticket.marks.hold or ticket.marks.retry_at or ticket.marks.conversation)


def _is_asked_for(state: State, which: TicketQuery) -> bool:
    task = state.task
    fits = not which.statuses or state.status in which.statuses
    belongs = which.parents is None or (task.parent in which.parents if which.parents else not task.parent)
    place = state.place
    filed = set(which.labels) <= set(place.labels) and which.project in ("", place.project)
    in_time = not which.due_before or 0 < place.due < which.due_before
    return fits and belongs and task.id.startswith(which.prefix) and filed and in_time


class DictFiles:
    def __init__(self, **texts: str) -> None:
        self.texts = {name.replace("__", "/"): text for name, text in texts.items()}

    def read(self, path: str) -> str:
        if path not in self.texts:
            raise ModelMistake(f"no such file: {path}")
        return self.texts[path]

    def write(self, path: str, text: str) -> None:
        self.texts[path] = text

    def paths(self) -> Sequence[str]:
        return sorted(self.texts)

    def stamps(self) -> Mapping[str, str]:
        return {path: sha256(self.texts[path].encode()).hexdigest() for path in self.paths()}


class TableSandbox:
    """Commands end as the table says; unknown ones with exit 127."""

    level = "table"

    def __init__(self, table: Mapping[str, tuple[int, str]]) -> None:
        self.table, self.ran = table, list[str]()

    def run(
        self,
        command: str,
        timeout: float,
        reports: bool = False,
        network: NetworkAccess = NO_NETWORK,
        manner: RunManner = PLAIN_MANNER,
    ) -> CommandRun:
        self.ran.append(command)
        exit, output = self.table.get(command, (127, f"sh: {command}: not found"))
        return CommandRun(command, exit, output)


class EmptyInsight:
    def looks(self, state: State, files: FileTree, wanted: Collection[str] = (), about: Sequence[Region] = ()) -> Sequence[Item]:
        return ()

    def measure(self, state: State, files: FileTree) -> int:
        return 0

    def measure_functions(self, paths: Collection[str], files: FileTree) -> Mapping[str, int]:
        return {}

    def tests_for(self, changed: Sequence[str], files: FileTree) -> Sequence[str]:
        return ()

    def definitions(self, path: str, text: str) -> Sequence[Symbol]:
        return ()

    def find(self, text: str, files: FileTree) -> Sequence[SearchHit]:
        return ()

    def explain_unfixed(self, state: State, files: FileTree) -> Sequence[UnfixedFunction]:
        return ()


class ComputedModel:
    """A fake Model: `answer` makes each reply. It keeps what it was asked."""

    name = "computed"
    window = 200_000

    def __init__(self, answer: Callable[[Request], Reply]) -> None:
        self.answer = answer
        self.requests: list[Request] = []

    def weigh(self, request: Request) -> int:
        return 0

    def propose(self, request: Request, hear: ReplyListener = ignore_piece) -> Reply:
        self.requests.append(request)
        reply = self.answer(request)
        return Reply(reply.thought, reply.actions, Usage(len(request.text) // 4 + 1, 1), self.name)
