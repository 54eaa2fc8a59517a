"""A text in parts that make sense alone: a frame of a traceback, a definition, the report of one test, a paragraph."""

import re
from collections.abc import Iterator, Sequence

MAX_PART_LINES = 30
SHORT_PARAGRAPH_LINES = 4
"""Lines of a part at most; and of a paragraph that goes with the next one of its kind."""
DEFINITION_LINE = re.compile(
    r"\s*(?:@\w|(?:(?:export|public|static|async|pub)\s+)*(?:def|class|func|function|fn|impl|struct|interface)\s+\w)"
)
TITLE_LINE = re.compile(
    r"(?:_{3,}|={3,}|-{5,}) .+ (?:_{3,}|={3,}|-{5,})$|(?:FAIL|ERROR): \S|diff --git |@@ |\$ \S|commit [0-9a-f]{7,}|#{1,4} \S"
)
TRACEBACK_LINE = re.compile(r"\s*(?:Traceback \(most recent call last\)|The above exception|During handling of)")
FRAME_LINE = re.compile(r"\s*File \"[^\"]+\", line \d+")
RAISED_LINE = re.compile(r"[A-Za-z_][\w.]*(?:Error|Exception|Warning|Interrupt|Exit)\b")


def split_into_parts(lines: Sequence[str]) -> list[tuple[int, int]]:
    """First line and the one after the last, counted from 0; they cover the text in order."""
    starts = [number for number in range(len(lines)) if not number or is_part_start(lines, number)]
    found: list[tuple[int, int]] = []
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=False):
        found += split_long_part(start, end)
    return found


def is_part_start(lines: Sequence[str], number: int) -> bool:
    line, above = lines[number], lines[number - 1]
    if FRAME_LINE.match(line):
        return not TRACEBACK_LINE.match(above)
    if TITLE_LINE.match(line) or TRACEBACK_LINE.match(line):
        return True
    if DEFINITION_LINE.match(line):
        return not above.lstrip().startswith("@")
    return (
        not above.strip() and bool(line.strip()) and count_indentation(line) <= count_indentation(find_line_above(lines, number))
    )


def is_structured_start(line: str) -> bool:
    """Whether what begins so belongs together, however long."""
    return any(mark.match(line) for mark in (FRAME_LINE, TITLE_LINE, TRACEBACK_LINE, DEFINITION_LINE))


def find_line_above(lines: Sequence[str], number: int) -> str:
    """The last line before this one that says something, near enough to matter."""
    return next((line for line in reversed(lines[max(0, number - SHORT_PARAGRAPH_LINES) : number]) if line.strip()), "")


def count_indentation(line: str) -> int:
    return len(line) - len(line.lstrip())


def split_long_part(start: int, end: int) -> Iterator[tuple[int, int]]:
    for at in range(start, end, MAX_PART_LINES):
        yield at, min(end, at + MAX_PART_LINES)
