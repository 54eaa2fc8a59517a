"""Where a name stands in a call; or why it does not, and how to get it back."""

from dataclasses import dataclass

from afresh.domain.window import Omission


@dataclass(frozen=True, slots=True)
class NameOccurrence:
    """A line of a section that holds it. `origin` says where the line came from."""

    section: str
    line: int
    text: str
    origin: str


@dataclass(frozen=True, slots=True)
class NeedEstimate:
    """How likely the builder thought it to be needed: log-odds by part, under the weights of that call."""

    what: str
    kind: str
    step: int
    voice: str
    age: int
    used: int
    """Times that an action of the agent named it; and that an output held it."""
    seen: int
    probability: float
    parts: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class ArchivedCopy:
    """An archived text that holds it."""

    block: str
    step: int
    kind: str
    subject: str
    forgotten: int = 0
    """The step after which memory no longer held it; 0 if it still does, or never did."""


@dataclass(frozen=True, slots=True)
class NameExplanation:
    name: str
    task: str
    step: int
    places: tuple[NameOccurrence, ...] = ()
    first: int = 0
    """Step of the first and of the last call before this one that held it; 0 if none did."""
    last: int = 0
    reason: str = ""
    """In one sentence, when it is not there."""
    omissions: tuple[Omission, ...] = ()
    chances: tuple[NeedEstimate, ...] = ()
    copies: tuple[ArchivedCopy, ...] = ()

    @property
    def recall(self) -> str:
        """The call of the tool that brings it back."""
        return f'recall(id="{self.copies[0].block[:8]}", about="{self.name}")' if self.copies else ""
