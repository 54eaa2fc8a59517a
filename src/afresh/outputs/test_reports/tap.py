"""Parses the Test Anything Protocol, as tap, tape, node --test and others print it."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from afresh.outputs.test_reports.outcomes import ERROR, FAILED, PASSED, SKIPPED, ReportedTest, split_plain_lines

POINT = re.compile(r"^( *)(ok|not ok)\b(?: +\d+)?(?: +-)?(?: +(.*))?$")
PLAN = re.compile(r"^ *(?:TAP version \d+|1\.\.\d+)")
DIRECTIVE = re.compile(r"(?<!\\)# *(skip|todo|time=)", re.IGNORECASE)
CLOSED = re.compile(r"^( *)\}$")
DIAGNOSIS_KEY = re.compile(r"^(\w+):(.*)$")
DIFF_HEAD = re.compile(r"--- |\+\+\+ |@@ ")
SHOWN_KEYS = frozenset({"error", "message", "diff", "expected", "actual", "found", "wanted"})
TEST_FILE = re.compile(r"^[\w@./-]{1,300}\.\w{1,6}$")
INDENT = 4
MAX_DEPTH = 20
MAX_DIAGNOSIS_LINES = 80


@dataclass(slots=True)
class TapPoint:
    """A line `ok` or `not ok`, with what is known of it below."""

    names: tuple[str, ...]
    outcome: str
    diagnosis: list[str] = field(default_factory=list[str])


def parse_tap(text: str) -> Iterator[ReportedTest]:
    """Yield each assertion or test without others in it, under the names of those it is in; nothing unless it is TAP."""
    lines = split_plain_lines(text)
    if any(PLAN.match(line) for line in lines):
        for point in collect_tap_points(lines):
            yield ReportedTest(name_tap_point(point), tap_outcome(point), "\n".join(select_diagnosis(point.diagnosis)))


def collect_tap_points(lines: Sequence[str]) -> list[TapPoint]:
    """What is in a subtest comes before its own line, or after it between braces."""
    levels: list[list[TapPoint]] = [[] for _ in range(MAX_DEPTH + 2)]
    opened: dict[int, TapPoint] = {}
    last: TapPoint | None = None
    for line in lines:
        if match := POINT.match(line):
            depth = min(len(match[1]) // INDENT, MAX_DEPTH)
            last = read_tap_point(match)
            if (match[3] or "").endswith("{"):
                opened[depth] = last
            else:
                close_subtest(levels, depth, last)
        elif (match := CLOSED.match(line)) and (owner := opened.pop(min(len(match[1]) // INDENT, MAX_DEPTH), None)):
            close_subtest(levels, min(len(match[1]) // INDENT, MAX_DEPTH), owner)
            last = None
        elif last is not None and line.startswith(" ") and len(last.diagnosis) < MAX_DIAGNOSIS_LINES:
            last.diagnosis.append(line)
            last = None if line.strip() == "..." else last
    return levels[0]


def read_tap_point(match: re.Match[str]) -> TapPoint:
    name = match[3] or ""
    said = DIRECTIVE.search(name)
    skipped = said is not None and said[1].lower() in ("skip", "todo")
    outcome = SKIPPED if skipped else PASSED if match[2] == "ok" else FAILED
    return TapPoint(((name[: said.start()] if said else name).rstrip(" {") or "unnamed",), outcome)


def close_subtest(levels: list[list[TapPoint]], depth: int, point: TapPoint) -> None:
    """A subtest that fails although all in it is fine fails by itself."""
    inside, levels[depth + 1] = levels[depth + 1], []
    levels[depth] += [TapPoint((*point.names, *one.names), one.outcome, one.diagnosis) for one in inside]
    broken = any(one.outcome in (FAILED, ERROR) for one in inside)
    if not inside or (point.outcome == FAILED and not broken):
        point.outcome = ERROR if inside and point.outcome == FAILED else point.outcome
        levels[depth].append(point)


def name_tap_point(point: TapPoint) -> str:
    """A first name that is a file's is separated from the others as such."""
    file, *rest = point.names
    if TEST_FILE.match(file.rpartition("/")[2]) and " " not in file:
        return f"{file}::{' › '.join(rest)}" if rest else file
    return " › ".join(point.names)


def tap_outcome(point: TapPoint) -> str:
    return (
        ERROR
        if point.outcome == FAILED and "::" not in name_tap_point(point) and TEST_FILE.match(point.names[0])
        else point.outcome
    )


def select_diagnosis(lines: Sequence[str]) -> Iterator[str]:
    """Yield what was expected and what came, of the block below a failing line."""
    indent = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    shown = False
    for line in (line[indent:] for line in lines):
        if line.startswith("..."):
            return
        if key := DIAGNOSIS_KEY.match(line):
            shown = key[1] in SHOWN_KEYS
            if shown and key[2].strip() not in ("|", "|-", ">", ">-"):
                yield line
        elif shown and line.strip() and not DIFF_HEAD.match(line.strip()):
            yield line.strip()
