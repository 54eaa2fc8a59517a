"""Tracebacks of Python: what was raised, and where in code that is not a library's."""

import re

from afresh.engine.extract.reading import Finding, Reading, clipped

START = "Traceback (most recent call last):"
FRAME = re.compile(r'^\s*File "([^"]+)", line (\d+)(?:, in (\S+))?')
RAISED = re.compile(r"^(?:[A-Za-z_][\w.]*\.)?([A-Z]\w*|KeyboardInterrupt)(?:: (.*))?$")
FOREIGN = ("site-packages/", "dist-packages/", "/lib/python", "<frozen", "<string>", "importlib/")


def read_traceback(text: str) -> Reading | None:
    """Of the last one: what came before led to it."""
    lines = text.splitlines()
    starts = [number for number, line in enumerate(lines) if line.strip() == START]
    if not starts:
        return None
    frames = [match for line in lines[starts[-1] :] if (match := FRAME.match(line))]
    raised = next(
        (line.strip() for line in lines[starts[-1] + 1 :] if not line.startswith(" ") and RAISED.match(line.strip())), ""
    )
    if not raised:
        return None
    own = [frame for frame in frames if not any(mark in frame[1] for mark in FOREIGN)]
    place = f" at {own[-1][1]}:{own[-1][2]}{f' in {own[-1][3]}' if own[-1][3] else ''}" if own else ""
    told = clipped(f"{clipped(raised, 110)}{place}", 200)
    return Reading(told, (Finding("", told, 0.9),))
