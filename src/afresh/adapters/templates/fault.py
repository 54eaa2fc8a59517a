"""What is wrong in a file that people write, and where: a person who reads it can go there and mend it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from afresh.errors import BadInput

KeyPath = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FileFault:
    file: str
    line: int
    key: str
    what: str
    next: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.key + ': ' if self.key else ''}{self.what}"


class InvalidValue(Exception):
    """A value that can't be used; becomes a fault where file and key are known."""

    def __init__(self, line: int, what: str, next: str = "") -> None:
        super().__init__(what)
        self.line, self.what, self.next = line, what, next


def error_from_faults(
    faults: Sequence[FileFault], check: str = "afresh template check", kind: type[BadInput] = BadInput
) -> BadInput:
    """The first in words; how many there are besides, and which command tells them all."""
    first, more = faults[0], len(faults) - 1
    besides = f" (and {more} more: `{check}`)" if more else ""
    return kind(f"{first}{besides}", next=first.next or "mend the file", safe="nothing was changed")


def suggest_known_word(word: str, known: Iterable[str]) -> str:
    """The right word for a wrong one, or all there are."""
    names = list(known)
    close = get_close_matches(word, names, n=1, cutoff=0.6)
    return f"did you mean {close[0]}?" if close else f"there are: {', '.join(names)}"
