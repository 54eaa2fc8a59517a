"""Exceptions of Java with the stack below them."""

import re

from afresh.engine.extract.output import CommandOutput
from afresh.engine.extract.reading import OutputFinding, OutputReading, truncate_to_one_line

JAVA_EXCEPTION = re.compile(r'^(?:Exception in thread "[^"]*" |Caused by: )?([a-z][\w.]*\.[A-Z][\w$]*)(?:: (.*))?$')
JAVA_FRAME = re.compile(r"^\s+at (?:\S+//?)?([\w.$<>]+)\((\w+\.(?:java|kt|scala|groovy)):(\d+)\)")
JAVA_STACK_LINE = re.compile(r"^\s+(?:at \S|\.\.\. \d+ more)")
JAVA_LIBRARIES = ("java.", "javax.", "jdk.", "sun.", "org.junit", "junit.", "org.gradle", "org.apache.maven", "kotlin.", "scala.")
MAX_JAVA_STACK_LINES = 60


def read_java_traceback(output: CommandOutput) -> OutputReading | None:
    """What caused the rest is told last."""
    lines = output.lines
    heads = [
        place
        for place in range(len(lines) - 1)
        if JAVA_STACK_LINE.match(lines[place + 1]) and JAVA_EXCEPTION.match(lines[place].strip())
    ]
    if not heads:
        return None
    start = heads[0]
    for place in heads[1:]:
        if not lines[place].startswith("Caused by: "):
            break
        start = place
    return reading_from_java_stack(output, start)


def reading_from_java_stack(output: CommandOutput, start: int) -> OutputReading:
    said = JAVA_EXCEPTION.match(output.lines[start].strip())
    message = f"{said[1]}{f': {said[2]}' if said[2] else ''}" if said else output.lines[start]
    where, last = "", start
    for place in range(start + 1, min(len(output.lines), start + MAX_JAVA_STACK_LINES)):
        if not JAVA_STACK_LINE.match(output.lines[place]):
            break
        frame = JAVA_FRAME.match(output.lines[place])
        if frame and not frame[1].startswith(JAVA_LIBRARIES):
            where, last = f" at {frame[2]}:{frame[3]} in {frame[1]}", place
            break
    told = truncate_to_one_line(f"{truncate_to_one_line(message, 110)}{where}", 200)
    return OutputReading(told, (OutputFinding("", told, 0.9, output.span(start, last)),))
