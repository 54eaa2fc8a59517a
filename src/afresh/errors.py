"""Errors, by who must act.

AfreshError
├── ModelMistake      the model: told in its next window what was wrong with its action
├── TryAgain          a retry: the same call may well succeed later
│   ├── Cancelled     this worker was asked to stop; the task goes on when it is resumed
│   └── LeaseLost     somebody else owns the task now; this worker stops
├── NeedsPerson       a person: `what` happened, what is `safe`, what to do `next`
│   ├── BadInput      the command or a file of the user's is not usable as it is
│   │   └── BadInstructions   a file of instructions is not: its task waits until it is mended
│   ├── OverLimit     a limit of spending does not allow the call: nothing was sent
│   ├── OverCeiling   no prompt fits under the ceiling: nothing was sent
│   ├── NoSandbox     nothing on this machine can confine a command
│   └── Damaged       stored state fails its checksum, or a newer afresh wrote it
└── Broken            a developer: an invariant of the program does not hold
    └── Conflict      the journal has moved on under this writer
"""

from typing import Any

USUAL_EXTRAS = ("models", "prices", "languages")


class AfreshError(Exception):
    """Everything that this program raises on purpose."""


class ModelMistake(AfreshError):
    """The model's action can't be done as it stands; the text is shown to the model."""


class TryAgain(AfreshError):
    """A passing fault of something outside. `usage`: tokens (a `Usage`) that it has cost all the same; `wait`: seconds after
    which it may be over, where somebody has said so."""

    def __init__(self, what: str = "", usage: Any = None, wait: float | None = None) -> None:
        super().__init__(what)
        self.usage, self.wait = usage, wait


class Cancelled(TryAgain):
    """This worker was asked to stop."""


class LeaseLost(TryAgain):
    """Another worker holds the task."""


class NeedsPerson(AfreshError):
    """Says what happened, what is safe, and what to do next."""

    def __init__(self, what: str, next: str = "", safe: str = "") -> None:
        super().__init__(what)
        self.what, self.next, self.safe = what, next, safe


class BadInput(NeedsPerson):
    """What the user gave can't be used as it is."""


class BadInstructions(BadInput):
    """A file of instructions can't be used as it is."""


class OverLimit(NeedsPerson):
    """A limit of spending is reached; only a person raises or resets it. `scope`: whose limit it is, `call` and `task` stop one
    task alone."""

    def __init__(self, what: str, next: str = "", safe: str = "", scope: str = "") -> None:
        super().__init__(what, next, safe)
        self.scope = scope


class OverCeiling(NeedsPerson):
    """No prompt can be built under the ceiling: what is never left out does not fit. `evidence`: which section, its size and what
    is left for it. `missing`: by how many tokens the ceiling is too low."""

    def __init__(self, what: str, evidence: str = "", next: str = "", missing: int = 0) -> None:
        super().__init__(what, next)
        self.evidence, self.missing = evidence or what, missing


class NoSandbox(NeedsPerson):
    """No confinement can be had, and the user has not waived it."""


class Damaged(NeedsPerson):
    """Stored state can't be believed."""


class Broken(AfreshError):
    """An invariant does not hold: a bug here, not there."""


class Conflict(Broken):
    """The head of the journal is not where this writer left it."""


def suggest_extra(extra: str) -> str:
    """Return how to install an extra. The command replaces the installed extras, so it names the usual ones, too."""
    names = ",".join(dict.fromkeys((*USUAL_EXTRAS, extra)))
    return f"uv tool install --force '.[{names}]' in the clone of afresh"
