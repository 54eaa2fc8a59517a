"""Parses tracebacks of Python, Node and Java: the error, and the first place in the project's own code."""

import re
from collections.abc import Sequence

from afresh.core.command_output import CommandOutput, OutputFinding, OutputReading, mask_volatile_names, truncate_to_one_line

PYTHON_TRACEBACK_START = "Traceback (most recent call last):"
PYTHON_FRAME = re.compile(r'^[\s|+]*File "([^"]+)", line (\d+)(?:, in (\S+))?')
PYTHON_EXCEPTION = re.compile(r"^(?:(?:[A-Za-z_][\w.]*\.)?[A-Z]\w*|[a-z_][\w.]*\.(?:error|gaierror|timeout))(?:: .*)?$")
PYTHON_SYNTAX_ERROR = re.compile(r"^(?:SyntaxError|IndentationError|TabError): ")
"""Reported without the usual traceback header."""
PYTHON_LIBRARY_MARKS = ("site-packages/", "dist-packages/", "/lib/python", "<frozen", "<string>", "importlib/")


def read_python_traceback(output: CommandOutput) -> OutputReading | None:
    """Return the last traceback: earlier ones led to it."""
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
    """Remove the tree drawing of exception groups."""
    return line.lstrip(" |+")


def find_python_exception(lines: Sequence[str], start: int) -> int:
    """Return the first line after the frames that is indented no deeper than the traceback itself."""
    depth = len(lines[start]) - len(strip_tree_marks(lines[start]))
    for place in range(start + 1, len(lines)):
        line = strip_tree_marks(lines[place])
        if len(lines[place]) - len(line) <= max(depth, 4 if "|" in lines[place][:4] else 0) and PYTHON_EXCEPTION.match(line):
            return place
    return -1


def find_unparsable_python(lines: Sequence[str]) -> int:
    """Return the line that names a file with a syntax error, if there is no traceback."""
    fault = next((place for place, line in enumerate(lines) if PYTHON_SYNTAX_ERROR.match(line)), -1)
    near = [place for place in range(max(0, fault - 4), fault) if PYTHON_FRAME.match(lines[place])] if fault >= 0 else []
    return near[-1] if near else -1


NODE_ERROR = re.compile(r"^(?:Uncaught |\[|\w+: )?(?:[A-Z]\w*)?(?:Error|Exception)\b(?: \[\w+\])?(?:: .*)?$")
NODE_PLACE = re.compile(r"^(?:file://)?(\S*?):(\d+):\d+$")
NODE_FILE_HEADING = re.compile(r"^(?:file://)?(/?\S+\.[cm]?[jt]sx?):(\d+)$")
NODE_LIBRARY_MARKS = ("node:", "node_modules/", "<anonymous>", "internal/", "webpack:")
MAX_LINES_ABOVE_NODE_STACK = 12
MAX_NODE_STACK_LINES = 40
"""Lines above the stack that may contain its error, and lines of the stack that are searched."""


def read_node_traceback(output: CommandOutput) -> OutputReading | None:
    """Return the first traceback: later ones are often printed by code that caught it."""
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
    """Return function, path and line of `at function (path:line:column)`."""
    text = line.strip()
    if not text.startswith("at "):
        return None
    function, _, place = text[3:].removesuffix(")").rpartition(" (") if text.endswith(")") else ("", "", text[3:])
    match = NODE_PLACE.match(place)
    return (function.removeprefix("async "), match[1], match[2]) if match else None


def find_own_node_frame(lines: Sequence[str], stack: int) -> tuple[str, int]:
    """Return the first frame outside libraries, and its line."""
    for place in range(stack, min(len(lines), stack + MAX_NODE_STACK_LINES)):
        found = parse_node_frame(lines[place])
        if found and not any(mark in found[1] for mark in NODE_LIBRARY_MARKS):
            function = f" in {found[0]}" if found[0] and "<anonymous>" not in found[0] else ""
            return f"{found[1]}:{found[2]}{function}", place
    return "", stack


def find_node_file_heading(lines: Sequence[str], said: int) -> str:
    """Return the file with a syntax error, which Node prints above the error."""
    above = range(said - 1, max(-1, said - MAX_LINES_ABOVE_NODE_STACK), -1)
    match = next((match for place in above if (match := NODE_FILE_HEADING.match(lines[place]))), None)
    return f"{match[1]}:{match[2]}" if match else ""


JAVA_EXCEPTION = re.compile(r'^(?:Exception in thread "[^"]*" |Caused by: )?([a-z][\w.]*\.[A-Z][\w$]*)(?:: (.*))?$')
JAVA_FRAME = re.compile(r"^\s+at (?:\S+//?)?([\w.$<>]+)\((\w+\.(?:java|kt|scala|groovy)):(\d+)\)")
JAVA_STACK_LINE = re.compile(r"^\s+(?:at \S|\.\.\. \d+ more)")
JAVA_LIBRARIES = ("java.", "javax.", "jdk.", "sun.", "org.junit", "junit.", "org.gradle", "org.apache.maven", "kotlin.", "scala.")
MAX_JAVA_STACK_LINES = 60


def read_java_traceback(output: CommandOutput) -> OutputReading | None:
    """Return the last exception, which is the cause of the others."""
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
