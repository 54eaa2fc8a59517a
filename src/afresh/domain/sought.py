"""What a name stands for in the code, and who uses it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SearchHit:
    path: str
    line: int
    text: str
    """A signature, or the line that uses it and where that stands."""
    defines: bool
    """It is a definition; otherwise a use of one."""
