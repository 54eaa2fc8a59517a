"""Errors of node with the stack below them."""

import re
from collections.abc import Sequence

from afresh.engine.extract.output import Output
from afresh.engine.extract.reading import Finding, Reading, clipped, steady

RAISED = re.compile(r"^(?:Uncaught |\[|\w+: )?(?:[A-Z]\w*)?(?:Error|Exception)\b(?: \[\w+\])?(?:: .*)?$")
PLACE = re.compile(r"^(?:file://)?(\S*?):(\d+):\d+$")
HEADED = re.compile(r"^(?:file://)?(/?\S+\.[cm]?[jt]sx?):(\d+)$")
FOREIGN = ("node:", "node_modules/", "<anonymous>", "internal/", "webpack:")
ABOVE = 12
FRAMES = 40
"""Lines above the stack among which its error stands, and lines of the stack that are looked at."""


def read_node_trace(output: Output) -> Reading | None:
    """The first: later ones are often printed by whoever caught it."""
    lines = output.lines
    stack = next((place for place, line in enumerate(lines) if frame(line)), -1)
    above = range(stack - 1, max(-1, stack - ABOVE), -1)
    said = next((place for place in above if RAISED.match(lines[place].strip())), -1) if stack > 0 else -1
    if said < 0:
        return None
    where, last = own(lines, stack)
    place = where or headed(lines, said)
    told = clipped(f"{clipped(lines[said], 110)}{steady(f' at {place}') if place else ''}", 200)
    return Reading(told, (Finding("", told, 0.9, output.span(said, last)),))


def frame(line: str) -> tuple[str, str, str] | None:
    """Function, path and line of `at function (path:line:column)`."""
    text = line.strip()
    if not text.startswith("at "):
        return None
    function, _, place = text[3:].removesuffix(")").rpartition(" (") if text.endswith(")") else ("", "", text[3:])
    match = PLACE.match(place)
    return (function.removeprefix("async "), match[1], match[2]) if match else None


def own(lines: Sequence[str], stack: int) -> tuple[str, int]:
    """The first frame in code that is not a library's, and where it stands."""
    for place in range(stack, min(len(lines), stack + FRAMES)):
        found = frame(lines[place])
        if found and not any(mark in found[1] for mark in FOREIGN):
            function = f" in {found[0]}" if found[0] and "<anonymous>" not in found[0] else ""
            return f"{found[1]}:{found[2]}{function}", place
    return "", stack


def headed(lines: Sequence[str], said: int) -> str:
    """What does not even parse is named above the error."""
    above = range(said - 1, max(-1, said - ABOVE), -1)
    match = next((match for place in above if (match := HEADED.match(lines[place]))), None)
    return f"{match[1]}:{match[2]}" if match else ""
