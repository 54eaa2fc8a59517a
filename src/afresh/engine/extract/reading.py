"""What was read from one output."""

import re
from dataclasses import dataclass

MAX_FINDINGS = 4
MAX_FINDING_CHARACTERS = 160
"""Findings of one output; and characters of each."""
_MEMORY_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{4,}")
_TEMPORARY_FOLDER = re.compile(
    r"(?<=/)(?:tmp[\w-]{6,40}|pytest-of-[\w-]+/pytest-\d+|rustdoctest\w+|go-build\d+|pip-[a-z-]+\w{6,12}|[0-9a-f]{8}[0-9a-f-]{4,60})(?=/)"
)
"""A folder that is made anew each time has another name the next time."""


@dataclass(frozen=True, slots=True)
class OutputFinding:
    subject: str
    """A test, a place, a file; empty for the command as a whole."""
    text: str
    confidence: float = 0.9
    lines: tuple[int, int] = (0, 0)
    """First and last line of the block that say so."""


@dataclass(frozen=True, slots=True)
class OutputReading:
    phrase: str
    """The result in a few words."""
    findings: tuple[OutputFinding, ...] = ()
    fine: frozenset[str] = frozenset()
    """Subjects of which the output says that nothing is wrong with them."""
    wrong: frozenset[str] = frozenset()
    """Subjects of which it says that something is: all of them, where findings tell only the first few."""
    complete: bool = False
    """Of tests: all that the command names have run, so that one which is not said to fail does not."""
    runner: str = ""
    """Of tests: what ran them, and so whose tests it can speak of."""
    failed: bool = False
    """The command itself ended badly."""


def truncate_to_one_line(text: str, length: int = MAX_FINDING_CHARACTERS) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= length else plain[: length - 1].rstrip() + "…"


def mask_volatile_names(text: str) -> str:
    """The same words in the next run: no addresses of objects, no folders that are made anew each time."""
    return _TEMPORARY_FOLDER.sub("…", _MEMORY_ADDRESS.sub("0x…", text))


def format_plural(count: int, noun: str, more: str = "") -> str:
    return f"{count} {noun if count == 1 else more or noun + 's'}"
