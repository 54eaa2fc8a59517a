"""Parses runs of cargo test."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from afresh.core.command_output import CommandOutput, OutputFinding, OutputReading, mask_volatile_names, truncate_to_one_line
from afresh.outputs.test_reports.outcomes import (
    FAILED,
    PASSED,
    SKIPPED,
    FailingTest,
    OutcomeCounts,
    ReportedTest,
    RunnerReport,
    reading_from_test_run,
)

PANIC_LINE = re.compile(r"^thread '[^']*' (?:\(\d+\) )?panicked at (.*)$")
PANIC_PLACE = re.compile(r"^([^\s']+):(\d+):\d+:$")
OLD_PANIC_MESSAGE = re.compile(r"^'(.*)', ([^\s']+):(\d+):\d+$")
"""Up to Rust 1.72 the message was on the same line."""
THREAD_NAME = re.compile(r"^thread '[^']*' (?:\(\d+\) )?")
"""Its number differs from run to run."""
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
    """Return the first panic: later ones are often its consequences."""
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
    """Return the message up to the backtrace (`assertion … failed`, left and right), and the line where it ends."""
    kept = list[str]()
    for place in range(start, min(end, start + MAX_MESSAGE_LINES)):
        line = lines[place].strip()
        if not line or line.startswith(("stack backtrace:", "note: ")):
            break
        kept.append(line)
    return ", ".join(kept), start + len(kept) - 1


RUNNING_TARGET = re.compile(r"^\s+Running (?:unittests )?(\S+\.rs) \((?:[^\s()]*/)?([^\s()/]+?)(?:-[0-9a-f]{16})?(?:\.exe)?\)")
DOC_TESTS_LINE = re.compile(r"^\s+Doc-tests \S+$")
TEST_OUTCOME_LINE = re.compile(r"^test (.+) \.\.\. (ok|FAILED|ignored)\b")
TEST_RESULT_LINE = re.compile(
    r"^test result: (?:ok|FAILED)\. (\d+) passed; (\d+) failed; (\d+) ignored; \d+ measured; (\d+) filtered out"
)
FAILURE_SECTION = re.compile(r"^---- (.+) stdout ----$")
DOC_TEST_NAME = re.compile(r"^(\S+\.rs) - (.+?)(?: \(line \d+\))?$")
STOPPED_RUN = "error: test failed, to rerun pass"


def read_cargo_run(output: CommandOutput) -> OutputReading | None:
    found = parse_cargo_run(output)
    return reading_from_test_run(*found) if found else None


def parse_cargo_run(output: CommandOutput) -> tuple[RunnerReport, list[FailingTest]] | None:
    results = [tuple(map(int, match.groups())) for line in output.lines if (match := TEST_RESULT_LINE.match(line))]
    if not results:
        return None
    passed, failed, ignored, filtered = (sum(column) for column in zip(*results, strict=True))
    stopped = any(line.startswith(STOPPED_RUN) for line in output.lines) and "--no-fail-fast" not in output.command
    fine = frozenset(name for name, outcome in parse_cargo_outcomes(output.lines) if outcome == "ok")
    run = RunnerReport("cargo test", OutcomeCounts(failed, passed, ignored), fine, not stopped and not filtered)
    return run, list(parse_cargo_failures(output))


def name_test_with_file(test: str, file: str) -> str:
    """Return the test with its file: that of the target, or for a doc test the file that contains it."""
    if example := DOC_TEST_NAME.match(test):
        return f"{example[1]}::{example[2]}"
    return f"{file}::{test}" if file else test


def pair_lines_with_target(lines: Sequence[str]) -> Iterator[tuple[int, str, str]]:
    """Yield each line with the file of the target that printed it; of a second crate with such a file, also with its name."""
    file, crates = "", dict[str, str]()
    for place, line in enumerate(lines):
        if match := RUNNING_TARGET.match(line):
            file = match[1] if crates.setdefault(match[1], match[2]) == match[2] else f"{match[1]} ({match[2]})"
        elif DOC_TESTS_LINE.match(line):
            file = ""
        yield place, file, line


def parse_cargo_outcomes(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    for _, file, line in pair_lines_with_target(lines):
        if match := TEST_OUTCOME_LINE.match(line):
            yield name_test_with_file(match[1].removesuffix(" - should panic"), file), match[2]


def parse_cargo_failures(output: CommandOutput) -> Iterator[FailingTest]:
    """Yield failing tests from their sections; without one, from the line that reports the failure."""
    lines, told = output.lines, dict[str, FailingTest]()
    for place, file, line in pair_lines_with_target(lines):
        if (match := TEST_OUTCOME_LINE.match(line)) and match[2] == "FAILED":
            name = name_test_with_file(match[1].removesuffix(" - should panic"), file)
            told.setdefault(name, FailingTest(name, "", output.span(place)))
        elif match := FAILURE_SECTION.match(line):
            name = name_test_with_file(match[1], file)
            message, last = find_failure_message(lines, place + 1)
            told[name] = FailingTest(name, message, output.span(place, last))
    yield from told.values()


def find_failure_message(lines: Sequence[str], start: int) -> tuple[str, int]:
    """Return the panic message, otherwise the first printed line."""
    end = next((place for place in range(start, len(lines)) if is_section_end(lines[place])), len(lines))
    if found := find_panic(lines, start, end):
        return found.text, found.last
    said = next((place for place in range(start, end) if lines[place].strip()), start - 1)
    return lines[said].strip() if said >= start else "", said


def is_section_end(line: str) -> bool:
    return line == "failures:" or bool(FAILURE_SECTION.match(line)) or bool(TEST_RESULT_LINE.match(line))


OUTCOME_BY_WORD = {"ok": PASSED, "FAILED": FAILED, "ignored": SKIPPED}


def parse_cargo_report(lines: Sequence[str]) -> Iterator[ReportedTest]:
    """Yield each test; one that fails with what it printed up to the backtrace."""
    said = dict(parse_failure_sections(lines))
    for name, outcome in parse_cargo_outcomes(lines):
        yield ReportedTest(name, OUTCOME_BY_WORD[outcome], said.get(name, ""))


def parse_failure_sections(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    for place, file, line in pair_lines_with_target(lines):
        if match := FAILURE_SECTION.match(line):
            end = next((at for at in range(place + 1, len(lines)) if is_section_end(lines[at])), len(lines))
            found = find_panic(lines, place + 1, end)
            text = lines[found.first : found.last + 1] if found else lines[place + 1 : end]
            yield name_test_with_file(match[1], file), "\n".join(THREAD_NAME.sub("", one) for one in text)
