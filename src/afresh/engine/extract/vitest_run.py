"""Runs of vitest."""

import re
from collections.abc import Iterator, Sequence

from afresh.engine.extract.output import Output
from afresh.engine.extract.reading import Reading
from afresh.engine.extract.runs import Counts, Failing, Run, run_reading

TESTS = re.compile(r"^\s+Tests  (.+)$")
COUNT = re.compile(r"(\d+) (failed|passed|skipped|todo)")
FAILED = re.compile(r"^ FAIL  (?:\|?[\w-]+\|? )?(\S+\.\w+)(?: \[ .* \]| > (.+))?$")
PASSED = re.compile(r"^ [✓√] (?:\|?[\w-]+\|? )?(\S+\.\w+) \(\d+ tests?\)")
PLACE = re.compile(r"^ ❯ (?:\S+ )?(\S+):(\d+):\d+$")
LONGEST_MESSAGE = 20
SUITE = "suite failed to run"


def read_vitest_run(output: Output) -> Reading | None:
    said = next((match for line in output.lines if (match := TESTS.match(line))), None)
    failing = list({one.test: one for one in failures(output)}.values())
    if said is None and not failing:
        return None
    counted = {word: int(number) for number, word in COUNT.findall(said[1])} if said else {}
    broken = sum(one.test.endswith(f"::{SUITE}") for one in failing)
    failed = counted.get("failed", 0) + broken if said else len(failing)
    counts = Counts(failed, counted.get("passed", 0), counted.get("skipped", 0) + counted.get("todo", 0))
    return run_reading(Run("vitest", counts, frozenset(fine(output.lines)), said is not None), failing)


def failures(output: Output) -> Iterator[Failing]:
    """` FAIL  file > suite > test`, the message in the next line, the place some lines below it."""
    lines = output.lines
    for place, line in enumerate(lines):
        match = FAILED.match(line)
        if match and place + 1 < len(lines):
            last, where = placed(lines, place + 1)
            name = match[2].replace(" > ", " › ") if match[2] else SUITE
            message = lines[place + 1].strip().partition(" // ")[0]
            yield Failing(f"{match[1]}::{name}", f"{message}{where}", output.span(place, last))


def placed(lines: Sequence[str], start: int) -> tuple[int, str]:
    for place in range(start, min(len(lines), start + LONGEST_MESSAGE)):
        if match := PLACE.match(lines[place]):
            return place, f" at {match[1]}:{match[2]}"
        if lines[place].startswith((" FAIL ", "⎯⎯")):
            break
    return start, ""


def fine(lines: Sequence[str]) -> Iterator[str]:
    return (match[1] for line in lines if (match := PASSED.match(line)))
