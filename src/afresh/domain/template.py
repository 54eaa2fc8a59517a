"""How a window is laid out for one type of task, phase by phase: policy as data."""

from dataclasses import dataclass

from afresh.domain.strategy import REACT, UNPACED, Pace
from afresh.domain.summary import Pruning
from afresh.domain.window import Tier

SECTIONS = (
    "instructions", "fingerprint", "task", "knowledge", "decisions", "contracts", "history", "diff", "similar", "target",
    "callers", "files", "beginning", "cited", "tests", "graph", "outline", "summary", "archive", "known", "memory", "failed",
    "work", "names", "changes", "coverage", "suggestions", "verification", "failing", "plan", "earlier", "last",
)  # fmt: skip
"""In reading order, from stable to volatile by measure (bench/prefix.py): what changes costs a cache all that stands after it."""
BREAKS = ("task", "callers", "cited")
"""Where a call may begin as the one before it did: after these, or what stands in their place. Providers cache up to there."""
ALWAYS = ("instructions", "task", "decisions", "failed", "changes", "verification", "plan")
"""What no template may cut or hide: what people laid down, the order, what failed, what was done, how it stands, what is next."""
CODE_PHASES, REPORT_PHASES = ("understand", "change", "verify"), ("understand", "report")
LEAST_THINKING = 1_024
"""Tokens. Providers refuse a smaller budget for thinking."""
KINDS = ("work", "summary", "lesson", "replay")
"""Kinds of call."""


@dataclass(frozen=True, slots=True)
class Share:
    """Part of the room that a section may take before the others had their turn, and the part it never exceeds."""

    section: str
    part: float
    cap: float = 1.0
    tier: Tier = Tier.DEMAND


@dataclass(frozen=True, slots=True)
class Phase:
    """A template as it is in one phase; `guidance` is what the phase adds to the system text."""

    name: str
    guidance: str = ""
    tools: tuple[str, ...] = ()
    shares: tuple[Share, ...] = ()
    reserve: float = 0.25
    steps: int = 0
    """Steps that the phase should take at most; 0 for as many as the task has."""
    thinking: int = 0


@dataclass(frozen=True, slots=True)
class Layout:
    """What one call is laid out by."""

    phase: str
    system: str
    tools: tuple[str, ...]
    shares: tuple[Share, ...]
    reserve: float
    steps: int = 0
    thinking: int = 0
    cue: str = ""
    """What the foot of the window says of the next step."""


@dataclass(frozen=True, slots=True)
class Template:
    type: str
    system: str
    """The stable text that comes first: who the model is, how it works here, what this type of task asks."""
    tools: tuple[str, ...] = ()
    shares: tuple[Share, ...] = ()
    """In order of claim. A tuple, not a mapping: the journal keeps the order of the one and not of the other."""
    reserve: float = 0.25
    """Share of the ceiling kept free for the reply."""
    ceiling: int = 4_000
    """Tokens for each call when the order names none."""
    phases: tuple[Phase, ...] = ()
    recall: int = 1_200
    """Tokens of an archived output that `recall` shows at once."""
    instructions: float = 0.15
    """Share of the ceiling that instructions of people may take."""
    kind: str = "work"
    about: str = ""
    weights: tuple[tuple[str, float], ...] = ()
    """What the builder scores candidates by."""
    pruning: Pruning = Pruning()
    loop: str = REACT
    pace: Pace = UNPACED
    thinking: int = 0
    """Tokens that the model may think with before it answers, on top of the ceiling above; 0: it is not asked to."""
    native: bool = False
    """Whether the last step goes back as the model's own calls; set for each call, by the model that is asked."""

    def at(self, phase: str) -> Layout:
        """The layout of a phase; before the first one, as it will be there. What the phase says stands last in the system
        text, so that phases share all that comes before it and calls of one phase share the whole."""
        if not self.phases:
            return Layout(phase, self.system, self.tools, self.shares, self.reserve, 0, self.thinking)
        found = next((one for one in self.phases if one.name == phase), self.phases[0])
        system = "\n\n".join(part for part in (self.system, found.guidance) if part)
        return Layout(found.name, system, found.tools, found.shares, found.reserve, found.steps, found.thinking)

    def thinking_at(self, phase: str, budget: int) -> int:
        """What is granted of it: nothing that the type needs for its windows, and never less than providers ask for."""
        granted = min(self.at(phase).thinking, budget - self.ceiling)
        return granted if granted >= LEAST_THINKING else 0
