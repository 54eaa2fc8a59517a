"""What was read from one output."""

from dataclasses import dataclass

MOST, LONGEST = 4, 160
"""Findings of one output; and characters of each."""


@dataclass(frozen=True, slots=True)
class Finding:
    subject: str
    text: str
    confidence: float = 0.9


@dataclass(frozen=True, slots=True)
class Reading:
    phrase: str
    """The result in a few words."""
    findings: tuple[Finding, ...] = ()
    fine: frozenset[str] = frozenset()
    """Subjects of which the output says that nothing is wrong with them."""
    complete: bool = False
    """Of tests: all that the command names have run, so that one which is not said to fail does not."""


def clipped(text: str, length: int = LONGEST) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= length else plain[: length - 1].rstrip() + "…"
