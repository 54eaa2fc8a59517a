"""Runs of jest."""

import re
from collections.abc import Iterator, Sequence

from afresh.engine.extract.output import Output
from afresh.engine.extract.reading import Reading
from afresh.engine.extract.runs import Counts, Failing, Run, run_reading

TESTS = re.compile(r"^Tests:\s+(\d.*) total$")
COUNT = re.compile(r"(\d+) (failed|passed|skipped|todo)")
FILE = re.compile(r"^(FAIL|PASS) (?:\[?\w+\]? )?(\S+\.\w+)(?: \([\d.]+ m?s\))?$")
BULLET = "  ● "
SUITE = "Test suite failed to run"
MARKED = re.compile(r"^( +)([✓✔√✕✗×○✎]) (?:skipped |todo )?(.+)$")
TOOK = re.compile(r" \(\d[\d.]* m?s\)$")
COMPARED = re.compile(r"^(?:Expected|Received|Difference)\b.*: \S|^(?:Expected|Received) ")
LONGEST_MESSAGE = 14
"""Lines after the name of a test in which its message stands."""
ASIDE = ("Console", "Validation Warning", "Deprecation Warning", "Cannot log after tests are done")
BROKEN_OFF = re.compile(r"^(?:Test Suites:.*\bobsolete|Aborting|Bail out|● .*\bbail)")


def read_jest_run(output: Output) -> Reading | None:
    said = next((match for line in output.lines if (match := TESTS.match(line))), None)
    failing = list({one.test: one for one in failures(output)}.values())
    if said is None and not failing:
        return None
    counted = {word: int(number) for number, word in COUNT.findall(said[1])} if said else {"failed": len(failing)}
    broken = sum(one.test.rpartition("::")[2] == SUITE for one in failing)
    skipped = counted.get("skipped", 0) + counted.get("todo", 0)
    counts = Counts(counted.get("failed", 0) + broken, counted.get("passed", 0), skipped)
    whole = said is not None and not any(BROKEN_OFF.match(line) for line in output.lines)
    return run_reading(Run("jest", counts, frozenset(fine(output.lines)), whole), failing)


def failures(output: Output) -> Iterator[Failing]:
    """`● suite › test` under the file that failed, and the message below it."""
    file = ""
    for place, line in enumerate(output.lines):
        if match := FILE.match(line):
            file = match[2]
        elif file and line.startswith(BULLET) and not line[len(BULLET) :].startswith(ASIDE):
            name = line[len(BULLET) :]
            message, last = explained(output.lines, place + 1)
            yield Failing(f"{file}::{name}", message, output.span(place, last))


def explained(lines: Sequence[str], start: int) -> tuple[str, int]:
    """The first line of a message, and what was expected and received; and where it ends."""
    kept, last = list[str](), start - 1
    for place in range(start, min(len(lines), start + LONGEST_MESSAGE)):
        line = lines[place].strip()
        if line.startswith(("at ", "●", "> ")) or re.match(r"\d+ \|", line):
            break
        if line and (not kept or COMPARED.match(line)):
            kept.append(line.partition(" // ")[0])
            last = place
    return ", ".join(kept), last


def fine(lines: Sequence[str]) -> Iterator[str]:
    """Files that pass as a whole, and tests that are ticked off by name under their suites."""
    file, suites = "", list[tuple[int, str]]()
    for line in lines:
        if match := FILE.match(line):
            file, suites = match[2], []
            if match[1] == "PASS":
                yield file
        elif match := MARKED.match(line):
            if file and match[2] in "✓✔√":
                above = [name for depth, name in suites if depth < len(match[1])]
                yield f"{file}::{' › '.join([*above, TOOK.sub('', match[3])])}"
        elif line.startswith("  ") and not line.startswith(BULLET):
            depth = len(line) - len(line.lstrip())
            suites = [*[one for one in suites if one[0] < depth], (depth, line.strip())][:12]
        elif line:
            file = ""
