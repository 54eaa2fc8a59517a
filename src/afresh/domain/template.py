"""How a window is laid out for one type of task: policy as data."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Share:
    """Part of the room that a section may take before the others had their turn."""

    section: str
    part: float


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
