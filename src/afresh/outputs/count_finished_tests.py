"""Counts the tests that a command has finished, from what it has printed so far."""

import re
from collections.abc import Callable
from dataclasses import dataclass

MAX_LINE_CHARACTERS = 400
"""Longer lines are no progress of a test runner."""
DOT_LINE = re.compile(r"(?:\S{1,200} )?([.FEsxX]{1,200}) {0,200}(?:\[ {0,3}(\d{1,3})%\])?")
"""`....F..  [ 12%]` of pytest, also with the file in front; the dots of unittest."""
FINISHED_LINE = re.compile(
    r".{1,300} \.\.\. (?:ok|FAIL|ERROR|skipped|ignored)"
    r"|[^\s:]{1,200}::[^\n]{1,200} (?:PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS)\b"
    r"|\s{0,20}--- (?:PASS|FAIL|SKIP): |(?:not )?ok \d|\s{1,20}[✓✔✕✗×] "
)
"""One test of cargo, unittest -v, pytest -v, go test -v, TAP, jest or vitest."""
TOTAL_LINE = re.compile(r"collected (\d{1,7}) items?|running (\d{1,7}) tests?|1\.\.(\d{1,7})")


@dataclass(frozen=True, slots=True)
class FinishedTests:
    done: int = 0
    total: int = 0
    """0 if it is not known."""
    percent: int = 0


class FinishedTestCounter:
    """Listens to the output of one command, and reports each new count."""

    def __init__(self, report: Callable[[FinishedTests], None]) -> None:
        self.report, self.line, self.known, self.told = report, "", FinishedTests(), FinishedTests()

    def __call__(self, data: bytes) -> None:
        *ended, self.line = (self.line + data.decode(errors="replace")).split("\n")
        for line in ended:
            self.known = add_finished_tests(self.known, line)
        self.line = self.line[: MAX_LINE_CHARACTERS + 1]
        now = add_finished_tests(self.known, self.line)
        if now != self.told and now.done >= self.told.done:  # the beginning of a line may look like less
            self.told = now
            self.report(now)


def add_finished_tests(known: FinishedTests, line: str) -> FinishedTests:
    """Return the count after a line, or after its beginning."""
    line = line.rstrip("\r")
    if len(line) > MAX_LINE_CHARACTERS:
        return known
    if dots := DOT_LINE.fullmatch(line):
        return FinishedTests(known.done + len(dots[1]), known.total, int(dots[2] or known.percent))
    if FINISHED_LINE.match(line):
        return FinishedTests(known.done + 1, known.total, known.percent)
    if total := TOTAL_LINE.match(line):
        return FinishedTests(known.done, known.total + int(total[1] or total[2] or total[3]), known.percent)
    return known
