"""A text in parts that make sense alone: a frame of a traceback, a definition, the report of one test, a paragraph."""

import re
from collections.abc import Iterator, Sequence

LONGEST = 30
SHORT = 4
"""Lines of a part at most; and of a paragraph that goes with the next one of its kind."""
DEFINITION = re.compile(
    r"\s*(?:@\w|(?:(?:export|public|static|async|pub)\s+)*(?:def|class|func|function|fn|impl|struct|interface)\s+\w)"
)
TITLE = re.compile(
    r"(?:_{3,}|={3,}|-{5,}) .+ (?:_{3,}|={3,}|-{5,})$|(?:FAIL|ERROR): \S|diff --git |@@ |\$ \S|commit [0-9a-f]{7,}|#{1,4} \S"
)
TRACEBACK = re.compile(r"\s*(?:Traceback \(most recent call last\)|The above exception|During handling of)")
FRAME = re.compile(r"\s*File \"[^\"]+\", line \d+")
RAISED = re.compile(r"[A-Za-z_][\w.]*(?:Error|Exception|Warning|Interrupt|Exit)\b")


def parts(lines: Sequence[str]) -> list[tuple[int, int]]:
    """First line and the one after the last, counted from 0; they cover the text in order."""
    starts = [number for number in range(len(lines)) if not number or begins(lines, number)]
    found: list[tuple[int, int]] = []
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=False):
        found += pieces(start, end)
    return found


def begins(lines: Sequence[str], number: int) -> bool:
    line, above = lines[number], lines[number - 1]
    if FRAME.match(line):
        return not TRACEBACK.match(above)
    if TITLE.match(line) or TRACEBACK.match(line):
        return True
    if DEFINITION.match(line):
        return not above.lstrip().startswith("@")
    return not above.strip() and bool(line.strip()) and indentation(line) <= indentation(former(lines, number))


def structured(line: str) -> bool:
    """Whether what begins so belongs together, however long."""
    return any(mark.match(line) for mark in (FRAME, TITLE, TRACEBACK, DEFINITION))


def former(lines: Sequence[str], number: int) -> str:
    """The last line before this one that says something, near enough to matter."""
    return next((line for line in reversed(lines[max(0, number - SHORT) : number]) if line.strip()), "")


def indentation(line: str) -> int:
    return len(line) - len(line.lstrip())


def pieces(start: int, end: int) -> Iterator[tuple[int, int]]:
    for at in range(start, end, LONGEST):
        yield at, min(end, at + LONGEST)
