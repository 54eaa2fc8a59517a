"""Runs of cargo test."""

import re
from collections.abc import Iterator, Sequence

from afresh.engine.extract.output import Output
from afresh.engine.extract.reading import Reading
from afresh.engine.extract.runs import Counts, Failing, Run, run_reading
from afresh.engine.extract.rust_panic import panicked

RUNNING = re.compile(r"^\s+Running (?:unittests )?(\S+\.rs) \(")
DOCUMENTS = re.compile(r"^\s+Doc-tests \S+$")
OUTCOME = re.compile(r"^test (.+) \.\.\. (ok|FAILED|ignored)\b")
RESULT = re.compile(r"^test result: (?:ok|FAILED)\. (\d+) passed; (\d+) failed; (\d+) ignored; \d+ measured; (\d+) filtered out")
SECTION = re.compile(r"^---- (.+) stdout ----$")
OF_A_DOCUMENT = re.compile(r"^(\S+\.rs) - (.+?)(?: \(line \d+\))?$")
STOPPED = "error: test failed, to rerun pass"


def read_cargo_run(output: Output) -> Reading | None:
    results = [tuple(map(int, match.groups())) for line in output.lines if (match := RESULT.match(line))]
    if not results:
        return None
    passed, failed, ignored, filtered = (sum(column) for column in zip(*results, strict=True))
    stopped = any(line.startswith(STOPPED) for line in output.lines) and "--no-fail-fast" not in output.command
    fine = frozenset(name for name, outcome in outcomes(output.lines) if outcome == "ok")
    run = Run("cargo test", Counts(failed, passed, ignored), fine, not stopped and not filtered)
    return run_reading(run, list(failures(output)))


def named(test: str, file: str) -> str:
    """With its file: that of the target, or for an example in a comment the one that holds it."""
    if example := OF_A_DOCUMENT.match(test):
        return f"{example[1]}::{example[2]}"
    return f"{file}::{test}" if file else test


def targets(lines: Sequence[str]) -> Iterator[tuple[int, str, str]]:
    """Each line with the file of the target that it is printed for."""
    file = ""
    for place, line in enumerate(lines):
        if match := RUNNING.match(line):
            file = match[1]
        elif DOCUMENTS.match(line):
            file = ""
        yield place, file, line


def outcomes(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    for _, file, line in targets(lines):
        if match := OUTCOME.match(line):
            yield named(match[1].removesuffix(" - should panic"), file), match[2]


def failures(output: Output) -> Iterator[Failing]:
    """The section of each failing test; without one, the line that says that it failed."""
    lines, told = output.lines, dict[str, Failing]()
    for place, file, line in targets(lines):
        if (match := OUTCOME.match(line)) and match[2] == "FAILED":
            name = named(match[1].removesuffix(" - should panic"), file)
            told.setdefault(name, Failing(name, "", output.span(place)))
        elif match := SECTION.match(line):
            name = named(match[1], file)
            message, last = why(lines, place + 1)
            told[name] = Failing(name, message, output.span(place, last))
    yield from told.values()


def why(lines: Sequence[str], start: int) -> tuple[str, int]:
    """What it panicked with; else the first line that it printed."""
    end = next((place for place in range(start, len(lines)) if ends(lines[place])), len(lines))
    if found := panicked(lines, start, end):
        return found.text, found.last
    said = next((place for place in range(start, end) if lines[place].strip()), start - 1)
    return lines[said].strip() if said >= start else "", said


def ends(line: str) -> bool:
    return line == "failures:" or bool(SECTION.match(line)) or bool(RESULT.match(line))
