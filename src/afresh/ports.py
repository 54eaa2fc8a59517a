"""The seams. The rooms of the flow know only these; the edges implement them, `afresh.testing` has contract suites for them."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from afresh.core.action import CommandRun
from afresh.core.block import Block
from afresh.core.change import Change
from afresh.core.commit import CommitSummary
from afresh.core.event import JournalEntry, WorkspaceOpened
from afresh.core.instructions import InstructionChain
from afresh.core.item import Item, Note
from afresh.core.project_facts import EMPTY_FACT_INDEX, FactCorrection, FactQuery, ProjectFact
from afresh.core.prompt import Request, ToolSchema
from afresh.core.region import Region
from afresh.core.reply import Reply
from afresh.core.spending import CallBooking
from afresh.core.state import State
from afresh.core.step_history import HookAnswer
from afresh.core.step_result import ToolOutcome
from afresh.core.subtask import RunSubtask
from afresh.core.symbol import ContentToIndex, FileReading, IndexedContent, IndexTerm, SearchHit, TreeListing
from afresh.core.task import QueueTicket
from afresh.core.tokens import estimate_tokens
from afresh.errors import AfreshError

ReplyListener = Callable[[str], None]


def ignore_piece(piece: str) -> None:
    """For whoever does not want to know before all is said."""


class Clock(Protocol):
    def now(self) -> float: ...


class Model(Protocol):
    """Answers one request. Raises TryAgain for a passing fault, NeedsPerson for a missing key and the like."""

    @property
    def name(self) -> str: ...
    @property
    def window(self) -> int:
        """Tokens the model can take in all."""
        ...

    def propose(self, request: Request, hear: ReplyListener = ignore_piece) -> Reply:
        """`hear` is told the pieces of the reply as they come in, where they do."""
        ...

    def weigh(self, request: Request) -> int:
        """Tokens of the request by the provider's own count, which costs nothing; 0 where there is none to be had."""
        ...


class Ledger(Protocol):
    """The books. What every call may cost is booked before it is made; a limit that does not allow it stops the call."""

    def book(self, call: CallBooking) -> str:
        """A name for it. OverLimit if a limit does not allow the worst that it may cost, or one has tripped before."""
        ...

    def settle(self, booked: str, reply: Reply) -> int | None:
        """What it has really cost, in nano-dollars; None if nobody knows."""
        ...

    def cancel(self, booked: str, fault: AfreshError) -> None:
        """No reply came of it; what the fault knows to be paid for all the same stays on the books."""
        ...


class JournalStore(Protocol):
    """The journal and the archive. One `append` is one durable, atomic commit."""

    def append(self, entries: Sequence[JournalEntry], blocks: Sequence[Block], state: State) -> None:
        """Write entries (of one task, next in its chain), blocks and the state they lead to. Conflict if the head has moved."""
        ...

    def load(self, task: str) -> State:
        """In time that does not depend on the number of steps. BadInput if there is no such task."""
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


class TaskQueue(Protocol):
    def claim(self, worker: str, task: str | None = None) -> str | None:
        """Take this task, or the next ready one: its id, or None if there is none. Exclusive; a dead owner's task is taken over.
        BadInput if the named task is held by a living worker, is over, or waits for others."""
        ...

    def renew(self, worker: str, task: str) -> None:
        """Keep the lease. LeaseLost if somebody else has it."""
        ...

    def release(self, worker: str, task: str) -> None: ...

    def tickets(self) -> Sequence[QueueTicket]: ...


class FileTree(Protocol):
    """The task's tree, by paths relative to its root. ModelMistake for a path that leads outside it."""

    def read(self, path: str) -> str: ...
    def write(self, path: str, text: str) -> None: ...
    def paths(self) -> Sequence[str]:
        """Tracked and new files, without ignored ones, sorted."""
        ...

    def stamps(self) -> Mapping[str, str]:
        """The same files, sorted, each with a mark that differs when its content may have changed."""
        ...


class CodeIndexStore(Protocol):
    """Keeps what contents of code say, by keys made of them, for all trees that hold them. It may be lost at any time."""

    def listing(self, tree: str) -> TreeListing | None: ...
    def keep(self, tree: str, listing: TreeListing) -> None: ...
    def add(self, wanted: Mapping[str, Callable[[], ContentToIndex]]) -> Mapping[str, IndexedContent]:
        """Find contents by their keys; only those that are not known yet are taken, and kept in one commit."""
        ...

    def readings(self, numbers: Sequence[int], bare: bool = False) -> Mapping[int, FileReading]:
        """Of contents that are known; a bare one is without symbols and mentions. KeyError if one is gone."""
        ...

    def saying(self, term: IndexTerm, name: str) -> Mapping[int, int]:
        """Contents, of whatever tree, with how often each says it."""
        ...


class Workspace(Protocol):
    """A tree of the task's own, with snapshots. The user's checkout is never touched."""

    def open(self) -> WorkspaceOpened:
        """Make the worktree, or find it again; safe to repeat."""
        ...

    def snapshot(self) -> str:
        """Keep the tree as it is now; the same tree gives the same id."""
        ...

    def restore(self, snapshot: str, paths: Sequence[str] = ()) -> None:
        """Put the tree (or only these paths) back as it was."""
        ...

    def changes(self, before: str, after: str) -> Sequence[Change]: ...

    def publish(self, snapshot: str, message: str) -> str:
        """Make the snapshot the one commit of the task's branch; its id."""
        ...


class GitHistory(Protocol):
    """What git knows of the repository. Nothing of it is ever written."""

    def commit(self, name: str) -> str:
        """The id of the commit that a branch, tag, id or `HEAD~2` names; empty if it names none."""
        ...

    def fork(self, one: str, other: str) -> str:
        """Where two commits part; empty if they have nothing in common."""
        ...

    def changes(self, before: str, after: str) -> Sequence[Change]: ...

    def log(self, until: str, paths: Sequence[str], most: int) -> Sequence[CommitSummary]:
        """The latest commits up to this one that touched these paths, the newest first."""
        ...


class Sandbox(Protocol):
    """Runs a command in the task's tree, confined."""

    level: ClassVar[str]
    """bubblewrap, landlock or none."""

    def run(self, command: str, timeout: float) -> CommandRun: ...


class CodeAnalysis(Protocol):
    """What can be known of the code without a model."""

    def looks(self, state: State, files: FileTree, wanted: Collection[str] = (), about: Sequence[Region] = ()) -> Sequence[Item]:
        """What the next window may show of the tree as it is now: the source tree, and the sections that are wanted. `about` are
        lines that the task has changed, or that it is to review."""
        ...

    def measure(self, state: State, files: FileTree) -> int:
        """What the task type counts in the tree (violations, say); 0 when it counts nothing."""
        ...

    def tests_for(self, changed: Sequence[str], files: FileTree) -> Sequence[str]:
        """Test files that cover the changed files; empty when that is not known."""
        ...

    def find(self, text: str, files: FileTree) -> Sequence[SearchHit]:
        """Where a name is defined, then who uses it; empty for a text that is no name of a definition."""
        ...


class FactIndex(Protocol):
    """What a project knows beyond the state of one task."""

    def look_up(self, question: FactQuery) -> Sequence[ProjectFact]:
        """Facts that hold, best first; in time that does not grow with their number."""
        ...

    def known(self, name: str) -> Sequence[ProjectFact]:
        """All that ever had this id, whether they hold or not."""
        ...

    def edits(self) -> Sequence[FactCorrection]:
        """What persons have corrected or want forgotten, in order."""
        ...


class InstructionReader(Protocol):
    """What people have written down for whoever works here."""

    def chain(self, types: Sequence[str], named: Sequence[str], touched: Sequence[str]) -> InstructionChain:
        """All that counts for a task of these types (the general one first) that was told of some paths, which may be mere words,
        and has touched others. BadInstructions for a file that can't be used as it is."""
        ...


class LessonLibrary(Protocol):
    """What earlier tasks have learnt, and skills of the repository, to be looked up."""

    def stocked(self) -> bool:
        """Whether there is anything at all."""
        ...

    def find(self, questions: Sequence[str], most: int) -> Sequence[Note]:
        """What really fits one of these, the best first; nothing when nothing does."""
        ...

    def named(self, keys: Sequence[str]) -> Sequence[Note]:
        """These, as they are now, without those that are gone."""
        ...


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What a tool may use."""

    state: State
    files: FileTree
    sandbox: Sandbox
    store: JournalStore
    insight: CodeAnalysis
    recall: int = 1_200
    """Tokens of an archived output that are shown at once; and how they are counted."""
    count: Callable[[str], int] = estimate_tokens
    lore: FactIndex = EMPTY_FACT_INDEX
    hand_out: RunSubtask | None = None


class Tool(Protocol):
    @property
    def schema(self) -> ToolSchema: ...
    @property
    def changes(self) -> bool:
        """Its purpose may be to change the tree."""
        ...

    def run(self, args: Mapping[str, Any], bench: ToolContext) -> ToolOutcome:
        """ModelMistake for arguments that can't be used."""
        ...


class CompactionHook(Protocol):
    """The user's own word, before something is done."""

    def before_compaction(self, about: Mapping[str, Any]) -> HookAnswer: ...


class Watcher(Protocol):
    """Told what happens: writes projections, shows progress. It can't change what happens."""

    def saw(self, state: State, entries: Sequence[JournalEntry]) -> None:
        """After every commit."""
        ...

    def doing(self, what: str) -> None:
        """Before something that may take long."""
        ...
