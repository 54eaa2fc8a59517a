"""Errors of node with the stack below them."""

import re
from collections.abc import Sequence

from afresh.engine.extract.output import CommandOutput
from afresh.engine.extract.reading import OutputFinding, OutputReading, truncate_to_one_line, mask_volatile_names

NODE_ERROR = re.compile(r"^(?:Uncaught |\[|\w+: )?(?:[A-Z]\w*)?(?:Error|Exception)\b(?: \[\w+\])?(?:: .*)?$")
NODE_PLACE = re.compile(r"^(?:file://)?(\S*?):(\d+):\d+$")
NODE_FILE_HEADING = re.compile(r"^(?:file://)?(/?\S+\.[cm]?[jt]sx?):(\d+)$")
NODE_LIBRARY_MARKS = ("node:", "node_modules/", "<anonymous>", "internal/", "webpack:")
MAX_LINES_ABOVE_NODE_STACK = 12
MAX_NODE_STACK_LINES = 40
"""Lines above the stack among which its error stands, and lines of the stack that are looked at."""


def read_node_traceback(output: CommandOutput) -> OutputReading | None:
    """The first: later ones are often printed by whoever caught it."""
    lines = output.lines
    stack = next((place for place, line in enumerate(lines) if parse_node_frame(line)), -1)
    above = range(stack - 1, max(-1, stack - MAX_LINES_ABOVE_NODE_STACK), -1)
    said = next((place for place in above if NODE_ERROR.match(lines[place].strip())), -1) if stack > 0 else -1
    if said < 0:
        return None
    where, last = find_own_node_frame(lines, stack)
    place = where or find_node_file_heading(lines, said)
    told = truncate_to_one_line(
        f"{truncate_to_one_line(lines[said], 110)}{mask_volatile_names(f' at {place}') if place else ''}", 200
    )
    return OutputReading(told, (OutputFinding("", told, 0.9, output.span(said, last)),))


def parse_node_frame(line: str) -> tuple[str, str, str] | None:
    """Function, path and line of `at function (path:line:column)`."""
    text = line.strip()
    if not text.startswith("at "):
        return None
    function, _, place = text[3:].removesuffix(")").rpartition(" (") if text.endswith(")") else ("", "", text[3:])
    match = NODE_PLACE.match(place)
    return (function.removeprefix("async "), match[1], match[2]) if match else None


def find_own_node_frame(lines: Sequence[str], stack: int) -> tuple[str, int]:
    """The first frame in code that is not a library's, and where it stands."""
    for place in range(stack, min(len(lines), stack + MAX_NODE_STACK_LINES)):
        found = parse_node_frame(lines[place])
        if found and not any(mark in found[1] for mark in NODE_LIBRARY_MARKS):
            function = f" in {found[0]}" if found[0] and "<anonymous>" not in found[0] else ""
            return f"{found[1]}:{found[2]}{function}", place
    return "", stack


def find_node_file_heading(lines: Sequence[str], said: int) -> str:
    """What does not even parse is named above the error."""
    above = range(said - 1, max(-1, said - MAX_LINES_ABOVE_NODE_STACK), -1)
    match = next((match for place in above if (match := NODE_FILE_HEADING.match(lines[place]))), None)
    return f"{match[1]}:{match[2]}" if match else ""
