"""Panics of Go."""

import re
from collections.abc import Sequence

from afresh.engine.extract.output import Output
from afresh.engine.extract.reading import Finding, Reading, clipped, steady

PANIC = re.compile(r"^(?:panic|fatal error): (.+)$")
GOROUTINE = re.compile(r"^goroutine \d+ (?:gp=\S+ m=\S+ )?(?:mp=\S+ )?\[")
PLACE = re.compile(r"^\s+(\S+\.go):(\d+)(?: \+0x[0-9a-f]+)?$")
LIBRARIES = ("runtime.", "testing.", "panic(", "created by ", "reflect.", "net/http.")
NEAR = 6
FRAMES = 60
"""Lines between a panic and its stack, and lines of the stack that are looked at."""


def read_go_panic(output: Output) -> Reading | None:
    lines = output.lines
    for place, line in enumerate(lines):
        if (match := PANIC.match(line)) and any(GOROUTINE.match(after) for after in lines[place + 1 : place + NEAR]):
            where, last = own(lines, place + 1)
            told = clipped(f"panic: {clipped(steady(match[1].partition(' [recovered')[0]), 110)}{where}", 200)
            return Reading(told, (Finding("", told, 0.9, output.span(place, last)),))
    return None


def own(lines: Sequence[str], start: int) -> tuple[str, int]:
    """The first frame that is no library's: a function, and in the next line its place."""
    for place in range(start, min(len(lines), start + FRAMES) - 1):
        match = PLACE.match(lines[place + 1])
        if match and lines[place] and not lines[place].startswith(LIBRARIES) and not lines[place][0].isspace():
            function = lines[place].partition("(")[0].rpartition("/")[2]
            return f" at {steady(match[1])}:{match[2]} in {function}", place + 1
    return "", start - 1
