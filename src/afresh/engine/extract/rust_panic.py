"""Panics of Rust."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from afresh.engine.extract.output import Output
from afresh.engine.extract.reading import Finding, Reading, clipped, steady

PANIC = re.compile(r"^thread '[^']*' (?:\(\d+\) )?panicked at (.*)$")
PLACE = re.compile(r"^([^\s']+):(\d+):\d+:$")
OLD = re.compile(r"^'(.*)', ([^\s']+):(\d+):\d+$")
"""Up to Rust 1.72 the message stood in the same line."""
LONGEST_MESSAGE = 6


@dataclass(frozen=True, slots=True)
class Panic:
    text: str
    place: str
    first: int
    last: int


def read_rust_panic(output: Output) -> Reading | None:
    found = panicked(output.lines, 0, len(output.lines))
    if found is None:
        return None
    told = clipped(found.text, 200)
    return Reading(told, (Finding("", told, 0.9, output.span(found.first, found.last)),))


def panicked(lines: Sequence[str], start: int, end: int) -> Panic | None:
    """The first one: those after it are often its consequences."""
    for place in range(start, end):
        match = PANIC.match(lines[place])
        if match and (old := OLD.match(match[1])):
            return Panic(f"{old[1]} at {where(old[2], old[3])}", old[2], place, place)
        if match and (now := PLACE.match(match[1])):
            said, last = message(lines, place + 1, end)
            return Panic(f"{said} at {where(now[1], now[2])}", now[1], place, last)
    return None


def where(path: str, line: str) -> str:
    return steady(f"{path}:{line}")


def message(lines: Sequence[str], start: int, end: int) -> tuple[str, int]:
    """Up to the backtrace: `assertion … failed`, and what was left and right."""
    kept = list[str]()
    for place in range(start, min(end, start + LONGEST_MESSAGE)):
        line = lines[place].strip()
        if not line or line.startswith(("stack backtrace:", "note: ")):
            break
        kept.append(line)
    return ", ".join(kept), start + len(kept) - 1
