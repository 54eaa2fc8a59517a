"""Panics of Rust."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from afresh.engine.extract.output import CommandOutput
from afresh.engine.extract.reading import OutputFinding, OutputReading, truncate_to_one_line, mask_volatile_names

PANIC_LINE = re.compile(r"^thread '[^']*' (?:\(\d+\) )?panicked at (.*)$")
PANIC_PLACE = re.compile(r"^([^\s']+):(\d+):\d+:$")
OLD_PANIC_MESSAGE = re.compile(r"^'(.*)', ([^\s']+):(\d+):\d+$")
"""Up to Rust 1.72 the message stood in the same line."""
MAX_MESSAGE_LINES = 6


@dataclass(frozen=True, slots=True)
class RustPanic:
    text: str
    place: str
    first: int
    last: int


def read_rust_panic(output: CommandOutput) -> OutputReading | None:
    found = find_panic(output.lines, 0, len(output.lines))
    if found is None:
        return None
    told = truncate_to_one_line(found.text, 200)
    return OutputReading(told, (OutputFinding("", told, 0.9, output.span(found.first, found.last)),))


def find_panic(lines: Sequence[str], start: int, end: int) -> RustPanic | None:
    """The first one: those after it are often its consequences."""
    for place in range(start, end):
        match = PANIC_LINE.match(lines[place])
        if match and (old := OLD_PANIC_MESSAGE.match(match[1])):
            return RustPanic(f"{old[1]} at {render_panic_place(old[2], old[3])}", old[2], place, place)
        if match and (now := PANIC_PLACE.match(match[1])):
            said, last = read_panic_message(lines, place + 1, end)
            return RustPanic(f"{said} at {render_panic_place(now[1], now[2])}", now[1], place, last)
    return None


def render_panic_place(path: str, line: str) -> str:
    return mask_volatile_names(f"{path}:{line}")


def read_panic_message(lines: Sequence[str], start: int, end: int) -> tuple[str, int]:
    """Up to the backtrace: `assertion … failed`, and what was left and right."""
    kept = list[str]()
    for place in range(start, min(end, start + MAX_MESSAGE_LINES)):
        line = lines[place].strip()
        if not line or line.startswith(("stack backtrace:", "note: ")):
            break
        kept.append(line)
    return ", ".join(kept), start + len(kept) - 1
