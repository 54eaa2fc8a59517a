"""What is known, how sure, and from which evidence."""

from dataclasses import dataclass
from enum import StrEnum


class FactKind(StrEnum):
    NOTE = "note"
    RULE = "rule"
    """A person's own words, verbatim."""
    DECISION = "decision"
    ERROR = "error"
    FAILED_APPROACH = "failed_approach"
    VERIFIED = "verified"
    OBSERVED = "observed"
    """Read from the output of a command that the model ran: shown while there is room, gone when it is no longer so."""


class FactScope(StrEnum):
    """Where a fact holds, and so whose windows may show it."""

    TASK = "task"
    PROJECT = "project"
    USER = "user"


@dataclass(frozen=True, slots=True)
class Fact:
    """A newer fact about the same kind and subject supersedes the older one; one without text takes it back."""

    kind: FactKind
    subject: str
    text: str
    confidence: float = 1.0
    block: str = ""
    step: int = 0
    source: str = ""
    """The command that said so: once it runs again, what it no longer says is taken back."""
    lines: tuple[int, int] = (0, 0)
    """First and last line of the block that say so; (0, 0) when it is the whole of it."""
    scope: FactScope = FactScope.TASK


@dataclass(frozen=True, slots=True)
class Decision:
    """Kept word for word. `by` is the model, the harness or a person."""

    text: str
    by: str
    why: str = ""
    step: int = 0
    subject: str = ""
    confidence: float | None = None
    """How sure whoever decided is; None where nobody has said."""
    options: tuple[str, ...] = ()
    """What there was to choose from, when a question was answered; the question is the subject."""

    @property
    def answer(self) -> bool:
        """A person's word on a question: it stands with the user's words, and not a second time among decisions."""
        return self.by == "person" and bool(self.subject)


UNSANDBOXED_DECISION = "commands run without a sandbox (--no-sandbox): nothing confines them"
"""A decision that only a person can make; it stands in every record of the task."""


@dataclass(frozen=True, slots=True)
class PlanItem:
    text: str
    done: bool = False


@dataclass(frozen=True, slots=True)
class Block:
    """Raw material in the archive, named by its content."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class BlockIndexLine:
    """One line about an archived block, so that it can be asked for by name."""

    block: str
    kind: str
    subject: str
    size: int
    phrase: str
    step: int


@dataclass(frozen=True, slots=True)
class Item:
    """Something read for a window from the tree or the archive; recorded with the call, so that the call can be built again."""

    kind: str
    subject: str
    text: str


@dataclass(frozen=True, slots=True)
class Region:
    """Lines of a file that the model has seen or written; their current text is read again for every window."""

    path: str
    start: int
    end: int
    step: int
    changed: bool = False

    def meets(self, start: int, end: int) -> bool:
        """Whether it has a line between these two, both counted."""
        return self.start <= end and start <= self.end


@dataclass(frozen=True, slots=True)
class Hunk:
    """Lines that a kept change replaced; regions of the file move with it."""

    path: str
    old_start: int
    old_count: int
    new_start: int
    new_count: int
