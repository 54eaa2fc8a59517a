"""Which lines of a file are worth showing: those that were asked for or changed, hardly any beside them. Pure."""

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise

from afresh.context.file_chunks import SCOPE_LINE, split_into_chunks

MAX_IMPORT_SCAN_LINES = 60
MIN_SPLIT_LINES = 6  # a shorter part of a definition is not split off
LINES_AROUND_CHANGE = 3
MAX_ROUNDING_LINES = 3  # lines that complete a definition, beside those that were read
MAX_FILLED_GAP_LINES = 2  # a shorter gap between lines is shown instead of being marked

IMPORT_LINE = re.compile(r"(?:from|import|use|using|package|#include)\b|const .*\brequire\(")
LineSpan = tuple[int, int]
"""Numbers of the first and the last line."""


def select_wanted_parts(lines: Sequence[str], wanted: Sequence[LineSpan], borders: Sequence[LineSpan]) -> Iterator[LineSpan]:
    """The wanted lines in parts that may be shown or left out by themselves: cut between definitions and at `borders`. A gap that
    would take as much room to mark as to show is filled."""
    numbers = {number for first, last in wanted for number in range(max(1, first), min(last, len(lines)) + 1)}
    for before, after in pairwise(sorted(numbers)):
        if after - before - 1 <= MAX_FILLED_GAP_LINES:
            numbers.update(range(before, after))
    for chunk in split_into_chunks(lines):
        for run in _list_runs([number for number in range(chunk[0], chunk[1] + 1) if number in numbers]):
            if any(lines[number - 1].strip() for number in range(run[0], run[1] + 1)):
                yield from split_at_wanted_lines(run, borders)


def _list_runs(numbers: Sequence[int]) -> list[LineSpan]:
    runs = list[LineSpan]()
    for number in numbers:
        if runs and runs[-1][1] + 1 == number:
            runs[-1] = runs[-1][0], number
        else:
            runs.append((number, number))
    return runs


def split_at_wanted_lines(chunk: LineSpan, wanted: Sequence[LineSpan]) -> list[LineSpan]:
    """Lines that are wanted for themselves apart from the rest of their definition: there may be room for them alone."""
    (start, end), least = chunk, MIN_SPLIT_LINES
    inside = [(first, last) for first, last in wanted if start <= last and first <= end]
    edges = {*[first for first, _ in inside], *[last + 1 for _, last in inside]}
    cuts = [start, *sorted(edge for edge in edges if start + least <= edge <= end + 1 - least), end + 1]
    return [(first, then - 1) for first, then in pairwise(cuts)]


def round_to_definition(lines: Sequence[str], span: LineSpan) -> LineSpan:
    """The span with the few lines before or after it that complete a definition."""
    start, end = span
    most = MAX_ROUNDING_LINES
    starts = [number for number in range(start, max(0, start - most - 1), -1) if _begins_definition(lines, number)]
    ends = [number for number in range(end, end + most + 1) if number >= len(lines) or _begins_definition(lines, number + 1)]
    return (starts[0] if starts else start), min(ends[0] if ends else end, len(lines))


def _begins_definition(lines: Sequence[str], number: int) -> bool:
    """At its decorators, where it has some."""
    if not 1 <= number <= len(lines):
        return False
    here, above = lines[number - 1], lines[number - 2] if number > 1 else ""
    return bool(SCOPE_LINE.match(here) or here.lstrip().startswith("@")) and not above.lstrip().startswith("@")


def widen_changed_lines(changed: Collection[int]) -> list[LineSpan]:
    """Changed lines with a few beside them."""
    runs, around = list[LineSpan](), LINES_AROUND_CHANGE
    for number in sorted(changed):
        if runs and number - around <= runs[-1][1] + 1:
            runs[-1] = runs[-1][0], number + around
        else:
            runs.append((number - around, number + around))
    return runs


def find_import_lines(lines: Sequence[str]) -> LineSpan | None:
    """From the first to the last line that imports something, near the beginning."""
    most = MAX_IMPORT_SCAN_LINES
    found = [number for number, line in enumerate(lines[:most], 1) if IMPORT_LINE.match(line)]
    return (found[0], found[-1] + _count_continuation_lines(lines[found[-1] - 1 :][:most])) if found else None


def _count_continuation_lines(lines: Sequence[str]) -> int:
    """Lines after the first that belong to it, by its open brackets."""
    depth = 0
    for number, line in enumerate(lines):
        depth += sum(line.count(sign) for sign in "({[") - sum(line.count(sign) for sign in ")}]")
        if depth <= 0:
            return number
    return 0
