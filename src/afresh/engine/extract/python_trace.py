"""Tracebacks of Python: what was raised, and where in code that is not a library's."""

import re
from collections.abc import Sequence

from afresh.engine.extract.output import CommandOutput
from afresh.engine.extract.reading import OutputFinding, OutputReading, truncate_to_one_line, mask_volatile_names

PYTHON_TRACEBACK_START = "Traceback (most recent call last):"
PYTHON_FRAME = re.compile(r'^[\s|+]*File "([^"]+)", line (\d+)(?:, in (\S+))?')
PYTHON_EXCEPTION = re.compile(r"^(?:(?:[A-Za-z_][\w.]*\.)?[A-Z]\w*|[a-z_][\w.]*\.(?:error|gaierror|timeout))(?:: .*)?$")
PYTHON_SYNTAX_ERROR = re.compile(r"^(?:SyntaxError|IndentationError|TabError): ")
"""Raised before there is a traceback."""
PYTHON_LIBRARY_MARKS = ("site-packages/", "dist-packages/", "/lib/python", "<frozen", "<string>", "importlib/")


def read_python_traceback(output: CommandOutput) -> OutputReading | None:
    """Of the last one: what came before led to it."""
    lines = output.lines
    starts = [number for number, line in enumerate(lines) if line.endswith(PYTHON_TRACEBACK_START)]
    start = starts[-1] if starts else find_unparsable_python(lines)
    end = find_python_exception(lines, start) if start >= 0 else -1
    if end < 0:
        return None
    frames = [match for line in lines[start:end] if (match := PYTHON_FRAME.match(line))]
    own = [frame for frame in frames if not any(mark in frame[1] for mark in PYTHON_LIBRARY_MARKS)]
    place = f" at {own[-1][1]}:{own[-1][2]}{f' in {own[-1][3]}' if own[-1][3] else ''}" if own else ""
    said = truncate_to_one_line(mask_volatile_names(strip_tree_marks(lines[end])), 110)
    told = truncate_to_one_line(f"{said}{mask_volatile_names(place)}", 200)
    return OutputReading(told, (OutputFinding("", told, 0.9, output.span(start, end)),))


def strip_tree_marks(line: str) -> str:
    """Groups of exceptions are drawn as a tree."""
    return line.lstrip(" |+")


def find_python_exception(lines: Sequence[str], start: int) -> int:
    """The first line after the frames that is indented no deeper than the traceback itself."""
    depth = len(lines[start]) - len(strip_tree_marks(lines[start]))
    for place in range(start + 1, len(lines)):
        line = strip_tree_marks(lines[place])
        if len(lines[place]) - len(line) <= max(depth, 4 if "|" in lines[place][:4] else 0) and PYTHON_EXCEPTION.match(line):
            return place
    return -1


def find_unparsable_python(lines: Sequence[str]) -> int:
    """Where a file that is no Python is named, if that is all there is."""
    fault = next((place for place, line in enumerate(lines) if PYTHON_SYNTAX_ERROR.match(line)), -1)
    near = [place for place in range(max(0, fault - 4), fault) if PYTHON_FRAME.match(lines[place])] if fault >= 0 else []
    return near[-1] if near else -1
