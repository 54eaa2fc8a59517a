"""What a run of a task works with: ports, settings, knowledge, control. Frozen: nothing of the run's history is in it."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event
from typing import Protocol

from afresh.core.action_policy import ActionPolicy
from afresh.core.cache_rates import DEFAULT_CACHE_RATES, CacheRates
from afresh.core.context_policy import DEFAULT_CONTEXT_POLICY, ContextPolicy
from afresh.core.network_access import NetworkPermission
from afresh.core.progress_event import CheckBegan, CheckEnded, CheckScope, ProgressEvent
from afresh.core.project_facts import EMPTY_FACT_INDEX
from afresh.core.spending import UNLIMITED_LEDGER
from afresh.core.state import State
from afresh.core.states.progress_state import DEFAULT_STALL_THRESHOLDS, StallThresholds
from afresh.core.states.supervision_state import PersonRequest
from afresh.core.subtask import Subtask, SubtaskResult
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
        """Ask the person what they want before the next step; None if no person is there."""
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
    """Ask the model each time, not only when the summary by rules can't hold all steps."""


COMPACT_BY_RULES = CompactionSettings()


@dataclass(frozen=True, slots=True, kw_only=True)
class CallSettings:
    """How calls are made, as ordered and configured. `settings_for_call` adapts it to what the state has learnt."""

    template: Template
    tools: tuple[Tool, ...]
    counter: EstimatingCounter
    policy: ContextPolicy = DEFAULT_CONTEXT_POLICY
    """Caps, ranks and thresholds of what a prompt shows."""
    calibration: TokenCalibration = NO_CALIBRATION
    """The learnt factor of the model's token count, from other tasks of the project."""
    cache: CacheRates = DEFAULT_CACHE_RATES
    """Price of cached tokens, relative to new ones."""
    compaction: CompactionSettings = COMPACT_BY_RULES
    stall: StallThresholds = DEFAULT_STALL_THRESHOLDS
    retries: int = MAX_REPLY_RETRIES
    """How often a reply that breaks off is asked for again."""
    native: bool = False
    """The model accepts a thinking budget, and tool calls with their results as such."""
    mode: str = ""
    """How closely a person follows, if that is to change."""
    baseline: str = ""
    """`once` or `twice`: how often each check runs before the first change; empty: as its duration says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Knowledge:
    """Knowledge beyond the task: of the project, its instructions, lessons and git history."""

    facts: FactIndex = EMPTY_FACT_INDEX
    instructions: InstructionReader | None = None
    lessons: LessonLibrary | None = None
    git_history: GitHistory | None = None
    traces: TraceCache = field(default_factory=TraceCache)
    """Saves reading the journal's passages again; nothing depends on it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunControl:
    """Watchers of a run, and those that may stop, refuse or change it."""

    watchers: tuple[Watcher, ...] = ()
    person: Supervisor | None = None
    cancellations: tuple[Cancellation, ...] = ()
    stop_command: Event = field(default_factory=Event)
    """Ends the command that runs beside the call."""
    policies: tuple[ActionPolicy, ...] = ()
    """The user's, asked after the built-in ones."""
    delegate: Callable[[Subtask, State, int], SubtaskResult] | None = None
    """Runs a part of the task; the number says which action of the step's reply asked for it."""
    permissions: tuple[NetworkPermission, ...] = ()
    """Hosts that the user's settings open for every task of the repository."""
    linters: bool = True
    """The project's own linters are checks of tasks that lower complexity."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Runtime:
    """The ports that a step works through."""

    model: Model
    store: JournalStore
    workspace: Workspace
    files: FileTree
    sandbox: Sandbox
    code: CodeAnalysis
    clock: Clock
    settings: CallSettings
    ledger: Ledger = UNLIMITED_LEDGER
    knowledge: Knowledge = field(default_factory=Knowledge)
    control: RunControl = RunControl()

    @property
    def gate(self) -> ModelGate:
        return ModelGate(self.model, self.ledger, self.report_progress, self.settings.retries, self.check_cancelled)

    def check_cancelled(self) -> None:
        for cancellation in self.control.cancellations:
            cancellation.check()

    def report_progress(self, event: ProgressEvent) -> None:
        for watcher in self.control.watchers:
            watcher.follow(event)

    @contextmanager
    def report_check(self, scope: CheckScope) -> Generator[None]:
        self.report_progress(CheckBegan(scope))
        try:
            yield
        finally:
            self.report_progress(CheckEnded(scope))

    def tool_context(self, state: State) -> ToolContext:
        recall, counter, before = self.settings.template.recall, self.settings.counter, state.workspace.first_snapshot
        return ToolContext(
            state, self.files, self.sandbox, self.store, self.code, recall, counter, self.knowledge.facts,
            list_changes=lambda: self.workspace.changes(before, state.workspace.snapshot) if before else (),
        )  # fmt: skip
