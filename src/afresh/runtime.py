"""The parts that work together on a task. Frozen: nothing of a run's history is in it."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Protocol

from afresh.core.action_policy import ActionPolicy
from afresh.core.progress_event import CheckBegan, CheckEnded, CheckScope, ProgressEvent
from afresh.core.progress_state import DEFAULT_STALL_THRESHOLDS, StallThresholds
from afresh.core.project_facts import EMPTY_FACT_INDEX
from afresh.core.spending import UNLIMITED_LEDGER
from afresh.core.state import State
from afresh.core.subtask import Subtask, SubtaskResult
from afresh.core.supervision_state import PersonRequest
from afresh.core.template import Template
from afresh.core.token_calibration import NO_CALIBRATION, TokenCalibration
from afresh.core.tokens import EstimatingCounter
from afresh.memory.gathered_context import TraceCache
from afresh.models.call import MAX_REPLY_RETRIES, ModelGate
from afresh.ports.code import CodeAnalysis
from afresh.ports.knowledge import InstructionReader, LessonLibrary
from afresh.ports.model import Ledger, Model
from afresh.ports.storage import FactIndex, JournalStore
from afresh.ports.tool import Tool, ToolContext
from afresh.ports.watch import Clock, CompactionHook, Watcher
from afresh.ports.workspace import FileTree, GitHistory, Sandbox, Workspace


class Supervisor(Protocol):
    def at_pause(self, state: State) -> PersonRequest | None:
        """What they want before it goes on, asked something or not; None when nobody is there."""
        ...


class Cancellation(Protocol):
    """Ends a worker's run from outside: its lease is lost, its process shuts down."""

    def check(self) -> None:
        """Raise why the worker must stop; return while it may go on. Asked before a call is bought and before each action."""
        ...


@dataclass(frozen=True, slots=True)
class CompactionSettings:
    """How memory is compacted, as far as it is the user's to say."""

    hook: CompactionHook | None = None
    summary: Template | None = None
    """For a summary by the model; without it the model is never asked."""
    always: bool = False
    """Asked every time, not only when the rules' own summary has no room for all steps."""


COMPACT_BY_RULES = CompactionSettings()


@dataclass(frozen=True, slots=True, kw_only=True)
class Runtime:
    model: Model
    store: JournalStore
    workspace: Workspace
    files: FileTree
    sandbox: Sandbox
    insight: CodeAnalysis
    tools: tuple[Tool, ...]
    template: Template
    clock: Clock
    counter: EstimatingCounter
    watchers: tuple[Watcher, ...] = ()
    recollection: TraceCache = field(default_factory=TraceCache)
    """Saves reading again; nothing depends on it."""
    learnt: TokenCalibration = NO_CALIBRATION
    """What other tasks of the project know of the model's count."""
    upkeep: CompactionSettings = COMPACT_BY_RULES
    lore: FactIndex = EMPTY_FACT_INDEX
    instructions: InstructionReader | None = None
    library: LessonLibrary | None = None
    past: GitHistory | None = None
    ledger: Ledger = UNLIMITED_LEDGER
    mode: str = ""
    """How closely a person follows, if that is to change; and the person, if one is there."""
    person: Supervisor | None = None
    cancellations: tuple[Cancellation, ...] = ()
    policies: tuple[ActionPolicy, ...] = ()
    """The user's, asked after those of the harness."""
    delegates: Callable[[Subtask, State, int], SubtaskResult] | None = None
    """Hands out a part of the task: which action of the step's reply it is, is part of its name."""
    patience: StallThresholds = DEFAULT_STALL_THRESHOLDS
    """With a run that gets nowhere."""
    retries: int = MAX_REPLY_RETRIES
    """Of a reply that has broken off."""
    native: bool = False
    """The model takes budgets for thinking, and tool calls with their results as such."""

    @property
    def till(self) -> ModelGate:
        return ModelGate(self.model, self.ledger, self.report_progress, self.retries, self.check_cancelled)

    def check_cancelled(self) -> None:
        for cancellation in self.cancellations:
            cancellation.check()

    def report_progress(self, event: ProgressEvent) -> None:
        for watcher in self.watchers:
            watcher.follow(event)

    @contextmanager
    def report_check(self, scope: CheckScope) -> Generator[None]:
        self.report_progress(CheckBegan(scope))
        try:
            yield
        finally:
            self.report_progress(CheckEnded(scope))

    def bench(self, state: State) -> ToolContext:
        return ToolContext(
            state, self.files, self.sandbox, self.store, self.insight, self.template.recall, self.counter, self.lore
        )
