"""How a window is laid out for one type of task, phase by phase: policy as data."""

from collections.abc import Sequence
from dataclasses import replace

from afresh.core.fast_dataclass import dataclass
from afresh.core.prompt import Tier
from afresh.core.states.strategy_state import REACT_STRATEGY, UNLIMITED_PACE, StrategyPace
from afresh.core.step_history import CompactionPolicy

SECTION_ORDER = (
    "instructions", "fingerprint", "task", "knowledge", "decisions", "history", "diff", "similar", "target",
    "callers", "files", "beginning", "cited", "tests", "outline", "summary", "archive", "known", "memory", "failed",
    "changes", "coverage", "suggestions", "verification", "failing", "plan", "work", "last",
)  # fmt: skip
"""In reading order, from stable to volatile by measure (bench/prefix.py): what changes costs a cache all that stands after it."""
CACHE_BREAK_SECTIONS = ("task", "callers", "cited")
"""Where a call may begin as the one before it did: after these, or what stands in their place. Providers cache up to there."""
REQUIRED_SECTIONS = ("instructions", "task", "decisions", "failed", "changes", "verification", "plan")
"""What no template may cut or hide: what people laid down, the order, what failed, what was done, how it stands, what is next."""
CODE_PHASES = ("understand", "change", "verify")
REPORT_PHASES = ("understand", "report")
DISCOVERY_PHASES = ("scan", "analyse", "synthesise")
LOOKING_PHASES = ("understand", "scan", "analyse")
"""Before the first change."""
MIN_THINKING_TOKENS = 1_024
"""Tokens. Providers refuse a smaller budget for thinking."""
CALL_KINDS = ("work", "summary", "lesson", "replay", "heartbeat")
"""Kinds of call."""


@dataclass(frozen=True, slots=True)
class SectionShare:
    """Part of the room that a section may take before the others had their turn, and the part it never exceeds."""

    section: str
    part: float
    cap: float = 1.0
    tier: Tier = Tier.DEMAND

    def limit_to(self, cap: float | None) -> "SectionShare":
        return self if cap is None else replace(self, part=min(self.part, cap), cap=cap)


def find_share(shares: Sequence[SectionShare], section: str) -> SectionShare | None:
    return next((share for share in shares if share.section == section), None)


@dataclass(frozen=True, slots=True)
class PhaseTemplate:
    """A template as it is in one phase; `guidance` is what the foot of a window says in it."""

    name: str
    guidance: str = ""
    tools: tuple[str, ...] = ()
    shares: tuple[SectionShare, ...] = ()
    reserve: float = 0.25
    steps: int = 0
    """Steps that the phase should take at most; 0 for as many as the task has."""
    thinking: int = 0
    opening: str = ""
    """Guidance for the first call of an order alone: nothing was read or changed yet."""


@dataclass(frozen=True, slots=True)
class CallLayout:
    """What one call is laid out by."""

    phase: str
    system: str
    tools: tuple[str, ...]
    """All that are offered: the same in every call of a task, since providers put them before all else that they cache."""
    shares: tuple[SectionShare, ...]
    reserve: float
    steps: int = 0
    thinking: int = 0
    cue: str = ""
    """What the foot of the window says of the next step."""
    guidance: str = ""
    closed: tuple[str, ...] = ()
    """Of the tools, those that are refused now."""
    opening: str = ""

    @property
    def open(self) -> tuple[str, ...]:
        return tuple(tool for tool in self.tools if tool not in self.closed)


@dataclass(frozen=True, slots=True)
class Template:
    type: str
    system: str
    """The stable text that comes first: who the model is, how it works here, what this type of task asks."""
    tools: tuple[str, ...] = ()
    shares: tuple[SectionShare, ...] = ()
    """In order of claim. A tuple, not a mapping: the journal keeps the order of the one and not of the other."""
    reserve: float = 0.25
    """Share of the ceiling kept free for the reply."""
    ceiling: int = 4_000
    """Tokens for each call when the order names none."""
    phases: tuple[PhaseTemplate, ...] = ()
    recall: int = 1_200
    """Tokens of an archived output that `read` and `search` show at once."""
    instructions: float = 0.15
    """Share of the ceiling that instructions of people may take."""
    kind: str = "work"
    about: str = ""
    weights: tuple[tuple[str, float], ...] = ()
    """What the builder scores candidates by."""
    pruning: CompactionPolicy = CompactionPolicy()
    loop: str = REACT_STRATEGY
    pace: StrategyPace = UNLIMITED_PACE
    thinking: int = 0
    """Tokens that the model may think with before it answers, on top of the ceiling above; 0: it is not asked to."""

    def at(self, phase: str) -> CallLayout:
        """The layout of a phase; before the first one, as it will be there. System text and tools are those of all phases: what
        a phase says stands at the foot of the window, and a tool that it does not have is refused."""
        if not self.phases:
            return CallLayout(phase, self.system, self.tools, self.shares, self.reserve, 0, self.thinking)
        found = next((one for one in self.phases if one.name == phase), self.phases[0])
        tools = tuple(dict.fromkeys(tool for one in self.phases for tool in one.tools))
        return CallLayout(
            found.name, self.system, tools, found.shares, found.reserve, found.steps, found.thinking, guidance=found.guidance,
            closed=tuple(tool for tool in tools if tool not in found.tools),            opening=found.opening,
        )  # fmt: skip

    def with_tools(self, names: tuple[str, ...]) -> "Template":
        """The same with more tools, in every phase."""
        phases = tuple(replace(phase, tools=(*phase.tools, *names)) for phase in self.phases)
        return replace(self, tools=(*self.tools, *names), phases=phases) if names else self

    def thinking_at(self, phase: str, budget: int) -> int:
        """What is granted of it: nothing that the type needs for its windows, and never less than providers ask for."""
        granted = min(self.at(phase).thinking, budget - self.ceiling)
        return granted if granted >= MIN_THINKING_TOKENS else 0
