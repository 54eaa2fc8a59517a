"""What a task did to one file."""

import re
from dataclasses import dataclass

CHANGED_LINE = re.compile(r"^@@ -\d+(?:,\d+)? \+(\d+)(?:,\d+)? @@")


@dataclass(frozen=True, slots=True)
class Change:
    path: str
    kind: str
    """added, modified or deleted (a rename is one of each)."""
    added: int = 0
    removed: int = 0
    patch: str = ""
    """Unified diff of this file alone; empty for a binary file."""


def new_lines(patch: str) -> frozenset[int]:
    """Numbers of the lines that a patch adds, in the file as it is now."""
    numbers: list[int] = []
    line = 0
    for text in patch.splitlines():
        if match := CHANGED_LINE.match(text):
            line = int(match[1])
        elif line and text.startswith("+"):
            numbers.append(line)
            line += 1
        elif line and not text.startswith(("-", "\\")):
            line += 1
    return frozenset(numbers)
