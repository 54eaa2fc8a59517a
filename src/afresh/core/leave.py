"""Leave to change what judges a task: what was changed, who allows it, and what a reviewer has said of it."""

from collections.abc import Iterable
from enum import StrEnum

from afresh.core.fast_dataclass import dataclass
from afresh.core.reply import Reply

MAX_GRANTS = 40
MAX_REVIEWS = 60
"""Entries that a state holds."""
FROM_ANSWER = "answer"
FROM_PERSON = "person"
FROM_INSTRUCTIONS = "instructions"
FROM_REVIEW = "review"
"""Who gives leave: a person by an answer, by a command or in instructions; or their order, as a reviewer has read it."""


@dataclass(frozen=True, slots=True)
class ChangedUnit:
    """A test, a helper or a file that judges the task, and that is not what it was at the base."""

    path: str
    name: str = ""
    """Of a test, class, helper or constant, as reports name it (`TestX::test_y`); empty: the file as a whole."""
    what: str = "altered"
    before: str = ""
    after: str = ""
    """Its text, without comments and docstrings; of one that was removed, what was added beside it."""
    soft: bool = False
    """It has only grown, or is data: it needs leave only if the work does not pass with it as it was."""
    became: str = ""
    """Of one that was removed: what was added and is like it."""

    @property
    def subject(self) -> str:
        return f"{self.path}::{self.name}" if self.name else self.path

    @property
    def told(self) -> str:
        happened = f"became {self.became}" if self.became else f"was {self.what}"
        return f"{self.path}: {self.name} {happened}" if self.name else f"{self.path} {happened}"


@dataclass(frozen=True, slots=True)
class Grant:
    """What may change. An empty name stands for the whole file or folder."""

    path: str
    """A file, or a folder that ends in a slash; empty: any."""
    name: str = ""
    by: str = FROM_PERSON
    words: str = ""
    """That give it; empty for a command."""
    source: str = ""
    """The file of an instruction."""
    needs_proof: bool = False
    """The words order a behaviour that the old test contradicts: runs have to show that."""

    @property
    def subject(self) -> str:
        return ChangedUnit(self.path, self.name).subject or "tests"

    @property
    def reason(self) -> str:
        """The words that give it, with the place of an instruction; empty for a command."""
        return (f"“{self.words}”" if self.words else "") + (f" ({self.source})" if self.source else "")

    def covers(self, change: ChangedUnit) -> bool:
        in_place = change.path == self.path or (self.path.endswith("/") and change.path.startswith(self.path))
        return (in_place or not self.path) and (not self.name or f"::{self.name}::" in f"::{change.name}::")


@dataclass(frozen=True, slots=True)
class LeaveGiven:
    """From now on the task may change these tests and settings, too."""

    changes: tuple[Grant, ...]


class HowAsked(StrEnum):
    """How the person's words ask for a change, as a reviewer reads them and the harness has checked it."""

    ORDERED = "ordered"
    """They say so."""
    FOLLOWS = "follows"
    """They order a behaviour with which the old check can't hold: runs have to show that, too."""
    NEITHER = "neither"


@dataclass(frozen=True, slots=True)
class ChangeReviewed:
    """A model has read the person's words and one change. On record before anything is done with it: it is paid once."""

    step: int
    subject: str
    words: str
    diff: str
    """Hashes of the words and of the change that it has read."""
    how: HowAsked
    quote: str = ""
    lost: str = ""
    """What is no longer demanded."""
    forbids: str = ""
    """The person's words against it."""
    unread: str = ""
    """Why nobody has read it."""
    reply: Reply | None = None

    @property
    def told(self) -> str:
        """The words that it goes by."""
        against = f"the user forbids it: “{self.forbids}”" if self.forbids else ""
        return self.unread or against or (f"“{self.quote}”" if self.quote else "no words for it")


def add_grants(known: tuple[Grant, ...], new: Iterable[Grant]) -> tuple[Grant, ...]:
    """Each once; the oldest stay."""
    return tuple(dict.fromkeys((*known, *new)))[:MAX_GRANTS]
