"""Panics of Go."""

import re
from collections.abc import Sequence

from afresh.engine.extract.output import CommandOutput
from afresh.engine.extract.reading import OutputFinding, OutputReading, truncate_to_one_line, mask_volatile_names

PANIC_LINE = re.compile(r"^(?:panic|fatal error): (.+)$")
GOROUTINE_LINE = re.compile(r"^goroutine \d+ (?:gp=\S+ m=\S+ )?(?:mp=\S+ )?\[")
STACK_PLACE = re.compile(r"^\s+(\S+\.go):(\d+)(?: \+0x[0-9a-f]+)?$")
GO_LIBRARIES = ("runtime.", "testing.", "panic(", "created by ", "reflect.", "net/http.")
MAX_LINES_BEFORE_STACK = 6
MAX_STACK_LINES = 60
"""Lines between a panic and its stack, and lines of the stack that are looked at."""


def read_go_panic(output: CommandOutput) -> OutputReading | None:
    lines = output.lines
    for place, line in enumerate(lines):
        if (match := PANIC_LINE.match(line)) and any(
            GOROUTINE_LINE.match(after) for after in lines[place + 1 : place + MAX_LINES_BEFORE_STACK]
        ):
            where, last = find_own_frame(lines, place + 1)
            told = truncate_to_one_line(
                f"panic: {truncate_to_one_line(mask_volatile_names(match[1].partition(' [recovered')[0]), 110)}{where}", 200
            )
            return OutputReading(told, (OutputFinding("", told, 0.9, output.span(place, last)),))
    return None


def find_own_frame(lines: Sequence[str], start: int) -> tuple[str, int]:
    """The first frame that is no library's: a function, and in the next line its place."""
    for place in range(start, min(len(lines), start + MAX_STACK_LINES) - 1):
        match = STACK_PLACE.match(lines[place + 1])
        if match and lines[place] and not lines[place].startswith(GO_LIBRARIES) and not lines[place][0].isspace():
            function = lines[place].partition("(")[0].rpartition("/")[2]
            return f" at {mask_volatile_names(match[1])}:{match[2]} in {function}", place + 1
    return "", start - 1
