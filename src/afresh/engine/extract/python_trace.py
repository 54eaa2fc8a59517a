"""Tracebacks of Python: what was raised, and where in code that is not a library's."""

import re
from collections.abc import Sequence

from afresh.engine.extract.output import Output
from afresh.engine.extract.reading import Finding, Reading, clipped, steady

START = "Traceback (most recent call last):"
FRAME = re.compile(r'^[\s|+]*File "([^"]+)", line (\d+)(?:, in (\S+))?')
RAISED = re.compile(r"^(?:(?:[A-Za-z_][\w.]*\.)?[A-Z]\w*|[a-z_][\w.]*\.(?:error|gaierror|timeout))(?:: .*)?$")
FAULTY = re.compile(r"^(?:SyntaxError|IndentationError|TabError): ")
"""Raised before there is a traceback."""
FOREIGN = ("site-packages/", "dist-packages/", "/lib/python", "<frozen", "<string>", "importlib/")


def read_python_trace(output: Output) -> Reading | None:
    """Of the last one: what came before led to it."""
    lines = output.lines
    starts = [number for number, line in enumerate(lines) if line.endswith(START)]
    start = starts[-1] if starts else unparsed(lines)
    end = raised(lines, start) if start >= 0 else -1
    if end < 0:
        return None
    frames = [match for line in lines[start:end] if (match := FRAME.match(line))]
    own = [frame for frame in frames if not any(mark in frame[1] for mark in FOREIGN)]
    place = f" at {own[-1][1]}:{own[-1][2]}{f' in {own[-1][3]}' if own[-1][3] else ''}" if own else ""
    said = clipped(steady(bare(lines[end])), 110)
    told = clipped(f"{said}{steady(place)}", 200)
    return Reading(told, (Finding("", told, 0.9, output.span(start, end)),))


def bare(line: str) -> str:
    """Groups of exceptions are drawn as a tree."""
    return line.lstrip(" |+")


def raised(lines: Sequence[str], start: int) -> int:
    """The first line after the frames that is indented no deeper than the traceback itself."""
    depth = len(lines[start]) - len(bare(lines[start]))
    for place in range(start + 1, len(lines)):
        line = bare(lines[place])
        if len(lines[place]) - len(line) <= max(depth, 4 if "|" in lines[place][:4] else 0) and RAISED.match(line):
            return place
    return -1


def unparsed(lines: Sequence[str]) -> int:
    """Where a file that is no Python is named, if that is all there is."""
    fault = next((place for place, line in enumerate(lines) if FAULTY.match(line)), -1)
    near = [place for place in range(max(0, fault - 4), fault) if FRAME.match(lines[place])] if fault >= 0 else []
    return near[-1] if near else -1
