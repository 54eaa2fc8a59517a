"""Reads tracebacks: the error, and the nearest place in the project's own code."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from afresh.core.command_output import CommandOutput, OutputFinding, OutputReading, mask_volatile_names, truncate_to_one_line


@dataclass(frozen=True, slots=True)
class TraceFormat:
    """How errors and frames look. Groups of a frame: `path`, `line`, and the `function`, which may stand on the line before."""

    error: re.Pattern[str]
    frame: re.Pattern[str]
    library: re.Pattern[str]
    """A frame that is not the project's."""


PYTHON = TraceFormat(
    re.compile(r"^(?:(?:[A-Za-z_][\w.]*\.)?[A-Z]\w*|[a-z_][\w.]*\.(?:error|gaierror|timeout))(?:: .*)?$"),
    re.compile(r'^[\s|+]+File "(?P<path>[^"]+)", line (?P<line>\d+)(?:, in (?P<function>\S+))?'),
    re.compile(r"site-packages/|dist-packages/|/lib/python|<frozen|<string>|importlib/"),
)
STACK = TraceFormat(
    re.compile(
        r'^(?:Uncaught |\[|Exception in thread "[^"]*" |Caused by: |\w+: )?'
        r"(?P<said>[\w$.]*(?:Error|Exception)\b(?: \[\w+\])?(?:: .*)?)$"
    ),
    re.compile(
        r"^\s*at (?:async )?(?:(?P<function>\S[^()]*?) ?\()?(?:file://)?(?P<path>[^\s()]*?[^\s()\d]):(?P<line>\d+)(?::\d+)?\)?$"
    ),
    re.compile(r"node:|node_modules/|<anonymous>|internal/|webpack:|\bjava\.|\bjavax\.|\bjdk\.|\bsun\.|org\.junit|org\.gradle"),
)
GO = TraceFormat(
    re.compile(r"^(?P<said>(?:panic|fatal error): .+)$"),
    re.compile(r"^(?:\S*/)?(?P<function>[^\s/(]+)\([^\n]*\n\s+(?P<path>\S+\.go):(?P<line>\d+)"),
    re.compile(r"^runtime\.|^testing\.|^panic$|^reflect\.|^net/http\."),
)
RUST_PANIC = re.compile(r"^thread '.*' (?:\(\d+\) )?(panicked at .*)$")
FILE_HEADING = re.compile(r"^(?:file://)?(/?\S+\.[cm]?[jt]sx?):(\d+)$")
"""Node prints the file with a syntax error above the error."""
TRACEBACK_START = "Traceback (most recent call last):"
MAX_LINES_ABOVE_STACK = 12
MAX_STACK_LINES = 60


def read_traceback(output: CommandOutput) -> OutputReading | None:
    lines = output.lines
    python_error = (
        find_python_error(lines) or find_stack_error(lines, STACK) or find_stack_error(lines, GO) or find_rust_panic(lines)
    )
    if not python_error:
        return None
    said, place, first, last = python_error
    text = truncate_to_one_line(truncate_to_one_line(mask_volatile_names(said), 110) + mask_volatile_names(place), 200)
    return OutputReading(text, (OutputFinding("", text, 0.9, output.span(first, last)),))


Trace = tuple[str, str, int, int]
"""The error, its place, and the first and last line that show them."""


def find_frame(form: TraceFormat, lines: Sequence[str], place: int) -> re.Match[str] | None:
    return form.frame.match(f"{lines[place - 1]}\n{lines[place]}" if form is GO else lines[place])


def name_own_frame(form: TraceFormat, frame: re.Match[str] | None) -> str:
    """Return where a frame of the project is; nothing for one of a library."""
    if frame is None or form.library.search(frame["path"]) or (frame["function"] and form.library.search(frame["function"])):
        return ""
    return f" at {frame['path']}:{frame['line']}" + (f" in {frame['function']}" if frame["function"] else "")


def measure_depth(line: str) -> int:
    """Return the indentation, with the tree that Python draws for a group of exceptions."""
    return len(line) - len(line.lstrip(" |+"))


def find_python_error(lines: Sequence[str]) -> Trace | None:
    """Return the last traceback: earlier ones led to it. Its error is the first line that is indented less than its frames."""
    for last in reversed([place for place, line in enumerate(lines) if PYTHON.frame.match(line)]):
        depth = measure_depth(lines[last])
        below = range(last + 1, min(len(lines), last + MAX_LINES_ABOVE_STACK))
        end = next((place for place in below if lines[place] and measure_depth(lines[place]) < depth), None)
        if end is None or not PYTHON.error.match(text := lines[end].lstrip(" |+")):
            continue
        first, own = last, ""
        for place in range(last, max(-1, last - MAX_STACK_LINES), -1):
            if measure_depth(lines[place]) < depth:
                first = place if lines[place].endswith(TRACEBACK_START) else first
                break
            own = own or name_own_frame(PYTHON, PYTHON.frame.match(lines[place]))
            first = place
        return text, own, first, end
    return None


def find_stack_error(lines: Sequence[str], form: TraceFormat) -> Trace | None:
    """Return the first error, as later ones are often printed by code that caught it, or what is said to have caused it."""
    stack_error: Trace | None = None
    for said, first, stack in list_stack_errors(lines, form):
        if stack_error and not lines[first].startswith("Caused by: "):
            break
        stop = min(len(lines), stack + MAX_STACK_LINES)
        own = next(((name, at) for at in range(stack, stop) if (name := name_own_frame(form, find_frame(form, lines, at)))), None)
        above = range(first, max(-1, first - MAX_LINES_ABOVE_STACK), -1)
        heading = next((match for at in above if (match := FILE_HEADING.match(lines[at]))), None)
        name, last = own or (f" at {heading[1]}:{heading[2]}" if heading else "", stack)
        stack_error = said, name, first, last
    return stack_error


def list_stack_errors(lines: Sequence[str], form: TraceFormat) -> Iterator[tuple[str, int, int]]:
    """Yield what each error says, its line, and the first frame below it."""
    for place in range(1, len(lines)):
        if find_frame(form, lines, place) and not find_frame(form, lines, place - 1):
            for above in range(place - 1, max(-1, place - MAX_LINES_ABOVE_STACK), -1):
                if match := form.error.match(lines[above].strip()):
                    yield match["said"].partition(" [recovered")[0], above, place
                    break


def find_rust_panic(lines: Sequence[str]) -> Trace | None:
    """Return the first panic: later ones are often its consequences. From Rust 1.73 on the message is on the next line."""
    for place, line in enumerate(lines):
        if match := RUST_PANIC.match(line):
            last = place + (match[1].endswith(":") and place + 1 < len(lines))
            return " ".join([match[1], *[one.strip() for one in lines[place + 1 : last + 1]]]), "", place, last
    return None
