"""Whether the work moves: what the last steps left behind, what was spent since it last did, and what was noticed. Bounded."""

from dataclasses import replace
from enum import StrEnum

from afresh.core.fast_dataclass import dataclass
from afresh.core.usage import NO_CALL_COSTS, CallCosts

MAX_STEP_MARKS = 24
MAX_ENTRIES_PER_MARK = 8
MAX_TOOLS_COUNTED = 12
MAX_BEST_CHECKS = 16
"""Steps that are looked back on; what one of them leaves behind of each kind; tools and checks that are counted."""


class Escalation(StrEnum):
    NONE = ""
    WARN = "warned"
    TURN = "turned"
    STOP = "stopped"

    @property
    def height(self) -> int:
        return list(Escalation).index(self)


@dataclass(frozen=True, slots=True)
class Sighting:
    """What is compared with later steps: an action, the end of a command or a check, or a step in which nothing worked."""

    sign: str
    key: str = ""
    """Of an action in the tree that it was done in; of a command or a check."""
    result: str = ""
    """What came of it; empty when a command succeeded."""
    told: str = ""


@dataclass(frozen=True, slots=True)
class BestCheckResult:
    """The best that a check has come to."""

    source: str
    failed: int
    passed: int


@dataclass(frozen=True, slots=True)
class VerifiedProgress:
    """The verified state so far, and why a step is progress over it."""

    why: str = ""
    measure: int = -1
    """The lowest that the task type's measure has been; -1 before it was known."""
    mended: tuple[str, ...] = ()
    """Tests that failed before the task and passed since."""
    bests: tuple[BestCheckResult, ...] = ()
    done: int = 0
    """Items of the plan that are done."""
    paths: int = 0
    """Files that differ from the base."""


@dataclass(frozen=True, slots=True)
class StepMark:
    """The mark that a step leaves for stall detection."""

    step: int
    seen: tuple[Sighting, ...] = ()
    edited: bool = False
    """Whether it changed files, even if the change was reverted."""
    tools: tuple[str, ...] = ()
    tokens: int = 0
    """Of its call, and of the parts that it has handed out."""
    money: int | None = None
    """Nano-dollars for them; None where the price is not known."""


@dataclass(frozen=True, slots=True)
class StallNoticed:
    """A sign of getting nowhere has reached a rung of the ladder; or has gone, when the rung is none."""

    step: int
    sign: str
    rung: Escalation
    evidence: str = ""
    key: str = ""
    """An action that is refused from now on, as long as the tree stays as it is."""


@dataclass(frozen=True, slots=True)
class ProgressState:
    """Whether the work moves: marks of the last steps, and what they came to."""

    marks: tuple[StepMark, ...] = ()
    since: int = 0
    """The last step that was progress, or after which a person has spoken."""
    tokens: int = 0
    """Spent since then."""
    bill: CallCosts = NO_CALL_COSTS
    """Cost of the steps without progress."""
    tools: tuple[tuple[str, int], ...] = ()
    """What was done since then, and how often."""
    gain: VerifiedProgress = VerifiedProgress()
    alarms: tuple[StallNoticed, ...] = ()

    def alarm(self, sign: str) -> StallNoticed | None:
        return next((stall for stall in self.alarms if stall.sign == sign), None)


INITIAL_PROGRESS = ProgressState()


def apply_step_mark(progress: ProgressState, mark: StepMark, gained: VerifiedProgress | None) -> ProgressState:
    """Progress clears all alarms: whatever was noticed, the work has moved."""
    marks = (*progress.marks, mark)[-MAX_STEP_MARKS:]
    if gained and gained.why:
        return replace(progress, marks=marks, since=mark.step, tokens=0, bill=NO_CALL_COSTS, tools=(), gain=gained, alarms=())
    tools = dict(progress.tools)
    for tool in mark.tools:
        tools[tool] = tools.get(tool, 0) + 1
    most = tuple(sorted(tools.items(), key=lambda one: (-one[1], one[0]))[:MAX_TOOLS_COUNTED])
    spent = add_cost(progress, mark.money, mark.tokens)
    return replace(spent, marks=marks, tools=most, gain=gained or progress.gain)


def add_cost(progress: ProgressState, cost: int | None, tokens: int) -> ProgressState:
    return replace(progress, tokens=progress.tokens + tokens, bill=progress.bill.plus(cost, tokens))


@dataclass(frozen=True, slots=True)
class StallThresholds:
    """The user's table `no_progress`: at which count the prompt warns, at which the strategy changes and at which the task stops
    and asks. 0 leaves a rung out, an empty list the sign."""

    repeats: tuple[int, ...] = (3, 5, 7)
    """Times that an action had the same result in an unchanged tree, or that a command or a check came back to the same failure
    after changes; steps in a row in which no action worked."""
    idle_steps: tuple[int, ...] = (60, 100, 160)
    """Steps without verified progress."""
    idle_tokens: tuple[int, ...] = (300_000, 600_000, 1_000_000)
    """Tokens, in and out, without verified progress."""
    forget: int = 5
    """Steps without the sign after which a warning is taken back."""


DEFAULT_STALL_THRESHOLDS = StallThresholds()
