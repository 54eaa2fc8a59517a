"""What a task may change in the tests that judge it: a licence, with the words that give it."""

import re
from collections.abc import Iterable
from enum import StrEnum

from afresh.core.fast_dataclass import dataclass

MAX_LICENCES = 40
"""Entries of a licence that a state holds."""
FROM_GOAL = "goal"
FROM_ANSWER = "answer"
FROM_MODEL = "model"
FROM_PERSON = "person"
FROM_INSTRUCTIONS = "instructions"
"""Whose reading gave an entry: rules that read the goal, a person's words or instructions, the model with a quote, or a person by
a command."""

_YES = re.compile(
    r"^\W*(?:yes|yep|yeah|ok|okay|sure|allow(?:ed)?|go ahead|do (?:it|so|that)|please do|agreed|fine|you may|of course)\b",
    re.IGNORECASE,
)
_NO = re.compile(r"\b(?:no|not|never|but|except|only|unless)\b|n't\b", re.IGNORECASE)


class WeakeningWay(StrEnum):
    """Ways in which a test can be weakened, and that a licence can allow."""

    EXTEND = "extend"
    """Entries more in a literal, where that changes what is expected."""
    ALTER = "alter"
    REPLACE = "replace"
    """A test is gone, and its file has as many tests as before."""
    REMOVE = "remove"
    SKIP = "skip"
    """It is skipped, expected to fail, or asserts nothing any more."""
    CONFIGURE = "configure"
    HOOK = "hook"
    """Code that reaches tests from outside: a hook, a fixture for every test, a patch at import."""


ANY_CHANGE = tuple(WeakeningWay)
EDITS = (WeakeningWay.EXTEND, WeakeningWay.ALTER, WeakeningWay.REPLACE)


@dataclass(frozen=True, slots=True)
class LicensedChange:
    """One entry of a licence. What is left empty is not narrowed; with nothing but `ways` it is about the tests as a whole."""

    ways: tuple[WeakeningWay, ...]
    path: str = ""
    """A file, or a folder that ends in a slash."""
    name: str = ""
    """A test, class, helper or constant, with its classes before it; or the key of a setting."""
    words: tuple[str, ...] = ()
    """Of a description such as `the four tests which count warnings`."""
    most: int = 0
    """How many tests the description speaks of; 0: it does not say."""
    quote: str = ""
    by: str = FROM_GOAL
    source: str = ""
    """File and line of an instruction."""
    needs_proof: bool = False
    """The words only imply it: runs have to show that the change of the test belongs to the change of the code."""

    @property
    def subject(self) -> str:
        """What it is about, for people and prompts."""
        if not self.needs_proof:
            return self._place
        return f"{self._place}, if the change makes it wrong" if self.path else "tests that the change makes wrong"

    @property
    def _place(self) -> str:
        if self.words:
            return f"{self.most or ''} tests about {' '.join(self.words)}".strip()
        if self.most and not (self.path or self.name):
            return f"{self.most} tests"
        place = "::".join(part for part in (self.path, self.name.replace(".", "::") if self.path else self.name) if part)
        return place or "tests"

    @property
    def reason(self) -> str:
        """The words that give it, with the place of an instruction; empty for a command."""
        return (f"“{self.quote}”" if self.quote else "") + (f" ({self.source})" if self.source else "")


@dataclass(frozen=True, slots=True)
class LicenceWidened:
    """From now on the task may change these tests and settings, too."""

    changes: tuple[LicensedChange, ...]


@dataclass(frozen=True, slots=True)
class Weakening:
    """One thing that weakens the tests of the base."""

    path: str
    way: WeakeningWay
    told: str
    name: str = ""
    """The statement, with its classes before it; or the key of a setting. Empty: the file as a whole."""
    source: str = ""
    """The statement as it was at the base, or is now where it was added."""

    @property
    def subject(self) -> str:
        return f"{self.path}::{self.name.replace('.', '::')}" if self.name else self.path


@dataclass(frozen=True, slots=True)
class RefusedEdits:
    """What a step did that was not kept, since it changed tests without a licence. With one it is applied again, unbought."""

    step: int
    before: str
    """The tree without them."""
    after: str
    """The tree with them, as the step left it."""
    paths: tuple[str, ...]
    weakenings: tuple[Weakening, ...]


def add_licences(known: tuple[LicensedChange, ...], new: Iterable[LicensedChange]) -> tuple[LicensedChange, ...]:
    """Each once; the oldest stay."""
    return tuple(dict.fromkeys((*known, *new)))[:MAX_LICENCES]


def is_agreement(answer: str) -> bool:
    """Whether a person simply agrees to what was asked."""
    return bool(_YES.match(answer)) and not _NO.search(answer)
