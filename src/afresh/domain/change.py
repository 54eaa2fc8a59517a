"""What a task did to one file."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Change:
    path: str
    kind: str
    """added, modified or deleted (a rename is one of each)."""
    added: int = 0
    removed: int = 0
    patch: str = ""
    """Unified diff of this file alone; empty for a binary file."""
