"""Exceptions of Java with the stack below them."""

import re

from afresh.engine.extract.output import Output
from afresh.engine.extract.reading import Finding, Reading, clipped

RAISED = re.compile(r'^(?:Exception in thread "[^"]*" |Caused by: )?([a-z][\w.]*\.[A-Z][\w$]*)(?:: (.*))?$')
FRAME = re.compile(r"^\s+at (?:\S+//?)?([\w.$<>]+)\((\w+\.(?:java|kt|scala|groovy)):(\d+)\)")
STACK = re.compile(r"^\s+(?:at \S|\.\.\. \d+ more)")
LIBRARIES = ("java.", "javax.", "jdk.", "sun.", "org.junit", "junit.", "org.gradle", "org.apache.maven", "kotlin.", "scala.")
FRAMES = 60


def read_java_trace(output: Output) -> Reading | None:
    """What caused the rest is told last."""
    lines = output.lines
    heads = [place for place in range(len(lines) - 1) if STACK.match(lines[place + 1]) and RAISED.match(lines[place].strip())]
    if not heads:
        return None
    start = heads[0]
    for place in heads[1:]:
        if not lines[place].startswith("Caused by: "):
            break
        start = place
    return traced(output, start)


def traced(output: Output, start: int) -> Reading:
    said = RAISED.match(output.lines[start].strip())
    message = f"{said[1]}{f': {said[2]}' if said[2] else ''}" if said else output.lines[start]
    where, last = "", start
    for place in range(start + 1, min(len(output.lines), start + FRAMES)):
        if not STACK.match(output.lines[place]):
            break
        frame = FRAME.match(output.lines[place])
        if frame and not frame[1].startswith(LIBRARIES):
            where, last = f" at {frame[2]}:{frame[3]} in {frame[1]}", place
            break
    told = clipped(f"{clipped(message, 110)}{where}", 200)
    return Reading(told, (Finding("", told, 0.9, output.span(start, last)),))
