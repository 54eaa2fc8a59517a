"""The parts that work together on a task. Frozen: nothing of a run's history is in it."""

from collections.abc import Callable
from dataclasses import dataclass, field

from afresh.domain.delegated import Delegated, Part
from afresh.domain.memory import Recollection
from afresh.domain.meter import UNTAUGHT, Meter
from afresh.domain.patience import PATIENT, Patience
from afresh.domain.spend import UNLIMITED
from afresh.domain.state import State
from afresh.domain.template import Template
from afresh.engine.buy import BROKEN_OFF, Till, counting
from afresh.engine.person import Person
from afresh.engine.tokens import Counter
from afresh.ports import (
    UNTOLD,
    Bench,
    Clock,
    Files,
    Hook,
    Insight,
    Instructions,
    Ledger,
    Library,
    Lore,
    Model,
    Past,
    Sandbox,
    Store,
    Tool,
    Watcher,
    Workspace,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Upkeep:
    """How memory is compacted, as far as it is the user's to say."""

    hook: Hook | None = None
    summary: Template | None = None
    """For a summary by the model; without it the model is never asked."""
    always: bool = False
    """Asked every time, not only when the rules' own summary has no room for all steps."""


BY_RULES = Upkeep()


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    model: Model
    store: Store
    workspace: Workspace
    files: Files
    sandbox: Sandbox
    insight: Insight
    tools: tuple[Tool, ...]
    template: Template
    clock: Clock
    counter: Counter
    watchers: tuple[Watcher, ...] = ()
    recollection: Recollection = field(default_factory=Recollection)
    """Saves reading again; nothing depends on it."""
    learnt: Meter = UNTAUGHT
    """What other tasks of the project know of the model's count."""
    upkeep: Upkeep = BY_RULES
    lore: Lore = UNTOLD
    instructions: Instructions | None = None
    library: Library | None = None
    past: Past | None = None
    ledger: Ledger = UNLIMITED
    mode: str = ""
    """How closely a person follows, if that is to change; and the person, if one is there."""
    person: Person | None = None
    delegates: Callable[[Part, State, int], Delegated] | None = None
    """Hands out a part of the task: which action of the step's reply it is, is part of its name."""
    patience: Patience = PATIENT
    """With a run that gets nowhere."""
    retries: int = BROKEN_OFF
    """Of a reply that has broken off."""
    native: bool = False
    """The model takes budgets for thinking, and tool calls with their results as such."""

    @property
    def till(self) -> Till:
        return Till(self.model, self.ledger, counting(self.told, self.model.name), self.retries)

    def told(self, what: str) -> None:
        """What goes on, to whoever watches."""
        for watcher in self.watchers:
            watcher.doing(what)

    def bench(self, state: State) -> Bench:
        return Bench(state, self.files, self.sandbox, self.store, self.insight, self.template.recall, self.counter, self.lore)
