"""How a window is laid out for one type of task: policy as data."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Template:
    type: str
    system: str
    """The stable text that comes first: who the model is, how it works here, what this type of task asks."""
    tools: tuple[str, ...] = ()
    shares: Mapping[str, float] = field(default_factory=dict[str, float])
    """Share of the room that a section may take before the others had their turn; in order of their claim to it."""
    reserve: float = 0.25
    """Share of the ceiling kept free for the reply."""
