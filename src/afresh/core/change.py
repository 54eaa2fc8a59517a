"""The change of one file by a task."""

import re
from collections.abc import Iterable, Sequence

from afresh.core.fast_dataclass import dataclass

_DEFINITION = re.compile(r"^(?:@@.*@@|[ +])\s*(?:async\s+)?(?:def|class|func|fn|function)\s+(\w+)")
NEW_START_OF_HUNK = re.compile(r"^@@ -\d+(?:,\d+)? \+(\d+)(?:,\d+)? @@")


@dataclass(frozen=True, slots=True)
class Change:
    """The change of one file."""

    path: str
    kind: str
    """added, modified or deleted (a rename is one of each)."""
    added: int = 0
    removed: int = 0
    patch: str = ""
    """Unified diff of this file alone; empty for a binary file."""


MAX_LISTED_FOLDERS = 12


def group_by_folder(changes: Sequence[Change]) -> list[str]:
    """A line for each folder: how many files in it were changed, and by how many lines. As deep as the limit of lines allows; of
    a tree with more folders at its top the smaller ones are one line."""
    depth = max(change.path.count("/") for change in changes)
    while len(groups := _group_at_depth(changes, depth)) > MAX_LISTED_FOLDERS and len(_group_at_depth(changes, depth - 1)) > 1:
        depth -= 1
    largest = sorted(groups, key=lambda folder: (-len(groups[folder]), folder))
    shown = sorted(largest if len(largest) <= MAX_LISTED_FOLDERS else largest[: MAX_LISTED_FOLDERS - 1])
    rest = [change for folder in groups if folder not in shown for change in groups[folder]]
    lines = [f"{folder}: {_count_changes(groups[folder])}" for folder in shown]
    return [*lines, *([f"{len(groups) - len(shown):,} more folders: {_count_changes(rest)}"] if rest else [])]


def _group_at_depth(changes: Sequence[Change], depth: int) -> dict[str, list[Change]]:
    groups: dict[str, list[Change]] = {}
    for change in changes:
        folders = change.path.split("/")[:-1][:depth]
        groups.setdefault("/".join(folders) + "/" if folders else "./", []).append(change)
    return groups


def _count_changes(changes: Sequence[Change]) -> str:
    added, removed = sum(change.added for change in changes), sum(change.removed for change in changes)
    return f"{len(changes):,} file{'s' if len(changes) > 1 else ''}, +{added:,} −{removed:,}"


def find_added_lines(patch: str) -> frozenset[int]:
    """Numbers of the lines that a patch adds, in the file as it is now."""
    numbers: list[int] = []
    line = 0
    for text in patch.splitlines():
        if match := NEW_START_OF_HUNK.match(text):
            line = int(match[1])
        elif line and text.startswith("+"):
            numbers.append(line)
            line += 1
        elif line and not text.startswith(("-", "\\")):
            line += 1
    return frozenset(numbers)


def find_changed_function(patch: str, line: str) -> str:
    """The function or class in which a patch adds the line; empty where the patch does not show it."""
    function = ""
    for shown in patch.splitlines():
        if definition := _DEFINITION.search(shown):
            function = definition[1]
        if line and shown.startswith("+") and shown[1:].strip() == line:
            return function
    return ""


def group_consecutive(numbers: Iterable[int]) -> list[tuple[int, int]]:
    """First and last of each unbroken row of numbers."""
    consecutive: list[tuple[int, int]] = []
    for number in sorted(numbers):
        if consecutive and number == consecutive[-1][1] + 1:
            consecutive[-1] = consecutive[-1][0], number
        else:
            consecutive.append((number, number))
    return consecutive


@dataclass(frozen=True, slots=True)
class Hunk:
    """Lines that a kept change replaced; regions of the file move with it."""

    path: str
    old_start: int
    old_count: int
    new_start: int
    new_count: int


HUNK_HEADER = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", re.MULTILINE)


def hunks_from_changes(changes: Iterable[Change]) -> Iterable[Hunk]:
    for change in changes:
        for old_start, old_count, new_start, new_count in HUNK_HEADER.findall(change.patch):
            yield Hunk(change.path, int(old_start), int(old_count or 1), int(new_start), int(new_count or 1))
