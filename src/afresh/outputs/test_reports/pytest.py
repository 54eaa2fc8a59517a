"""Reads what pytest 7, 8 and 9 print, quiet or verbose, with or without xdist."""

import re
from collections.abc import Iterator, Mapping, Sequence

from afresh.core.command_output import MAX_FINDINGS, CommandOutput, OutputReading
from afresh.core.verdict import FailedTest
from afresh.outputs.test_reports.outcomes import (
    ERROR,
    FAILED,
    MAX_MESSAGE_CHARACTERS,
    PASSED,
    SKIPPED,
    FailingTest,
    OutcomeCounts,
    OutcomesByTest,
    RunnerReport,
    keep_worst_outcome,
    reading_from_test_run,
    split_plain_lines,
    truncate_traceback,
)

_SUMMARY_TITLE = re.compile(r"=+ short test summary info =+\s*$")
_COUNTS_LINE = re.compile(r"^(?:=+ )?((?:\d+ [a-z ]+?(?:, )?)+|no tests ran) in [\d.…]+s(?: \([\d:, a-z]+\))?(?: =+)?\s*$")
_OUTCOME_COUNT = re.compile(r"(?<!\d)(\d+) ([a-z ]+)")
_SUMMARY_LINE = re.compile(r"^(PASSED|FAILED|ERROR|XFAIL|XPASS|SUBFAIL(?:ED)?\b\S*?(?: .*?)?) (\S(?:.*\S)?)\s*$")
TRACEBACK_TITLE = re.compile(r"^_+ (?:ERROR at (?:setup|teardown) of |ERROR collecting )?(.+?) _+\s*$")
_SECTION_RULE = re.compile(r"^(?:=+ .* =+|!+ .* !+)\s*$")
_OUTCOME_BY_WORD = {"PASSED": PASSED, "FAILED": FAILED, "ERROR": ERROR, "XFAIL": SKIPPED, "XPASS": SKIPPED}


def read_pytest_outcomes(output: str, sessions: int = 0) -> OutcomesByTest | None:
    """Return the outcomes of the last `sessions` pytest sessions in the output (0: of all); None if there was none.

    A project that tests pytest plugins also prints the sessions of its own tests: for one command only the last session counts.
    """
    lines = split_plain_lines(output)
    summaries = _find_summaries(lines)[-sessions:]
    begin = summaries[0][0] if summaries else 0
    counts = [_parse_counts(line) for line in lines[begin:] if _COUNTS_LINE.match(line)][-sessions:]
    if not counts and not summaries:
        return None
    sections = _split_tracebacks(lines)
    found = [
        entry for start, end in summaries for entry in _parse_summary_lines(lines[start:end], {name for name, _ in sections})
    ]
    tests = keep_worst_outcome((test, outcome) for test, outcome, _ in found)
    passed, failed, skipped = (sum(column) for column in zip(*counts or [_count_outcomes(tests)], strict=True))
    named = bool(found) and sum(outcome == PASSED for _, outcome, _ in found) >= passed
    return OutcomesByTest(tests, passed, failed, skipped, named, tuple(_list_failures(found, sections)))


def _count_outcomes(tests: Mapping[str, str]) -> tuple[int, int, int]:
    """Return the counts by outcome, for very quiet runs that print none."""
    said = list(tests.values())
    return said.count(PASSED), said.count(FAILED) + said.count(ERROR), said.count(SKIPPED)


def _find_summaries(lines: Sequence[str]) -> list[tuple[int, int]]:
    """Return each summary, from its title to the next rule."""
    starts = [number + 1 for number, line in enumerate(lines) if _SUMMARY_TITLE.match(line)]
    return [(start, _find_summary_end(lines, start)) for start in starts]


def _find_summary_end(lines: Sequence[str], start: int) -> int:
    for number in range(start, len(lines)):
        if _COUNTS_LINE.match(lines[number]) or _SECTION_RULE.match(lines[number]):
            return number
    return len(lines)


def _parse_counts(line: str) -> tuple[int, int, int]:
    match = _COUNTS_LINE.match(line)
    counts = {word.strip().rstrip("s"): int(number) for number, word in _OUTCOME_COUNT.findall(match[1] if match else "")}
    failed = counts.get("failed", 0) + counts.get("error", 0)
    return counts.get("passed", 0), failed, counts.get("skipped", 0) + counts.get("xfailed", 0) + counts.get("xpassed", 0)


def _parse_summary_lines(lines: Sequence[str], titles: set[str]) -> Iterator[tuple[str, str, str]]:
    """Yield test, outcome and the (perhaps shortened) message of each summary line."""
    for line in lines:
        match = _SUMMARY_LINE.match(line)
        if match is None:
            continue
        word, rest = match[1], match[2]
        if word.startswith("SUB"):
            rest = line[_find_test_id(line) :].rstrip()
        if word == "PASSED":
            yield rest, PASSED, ""
        else:
            yield _split_id_and_message(rest, titles, _OUTCOME_BY_WORD.get(word, FAILED))


def _find_test_id(line: str) -> int:
    """Return where the test id begins: the first word with `::`, since a subtest's line shows its parameters first."""
    for match in re.finditer(r"\S+", line):
        if "::" in match[0]:
            return match.start()
    return line.index(" ") + 1


def _split_id_and_message(rest: str, titles: set[str], outcome: str) -> tuple[str, str, str]:
    """Split id and message, which may both contain ' - ': at an id that has a traceback, otherwise at the first with balanced
    brackets.
    """
    cuts = [match.start() for match in re.finditer(r" - ", rest)]
    for cut in cuts:
        if traceback_title_from_test(rest[:cut]) in titles:
            return rest[:cut], outcome, rest[cut + 3 :]
    for cut in cuts:
        if traceback_title_from_test(rest) not in titles and ("[" not in rest[:cut] or rest[:cut].endswith("]")):
            return rest[:cut], outcome, rest[cut + 3 :]
    return rest, outcome, ""


def traceback_title_from_test(test: str) -> str:
    """Return the title that pytest gives the traceback of a test."""
    _, separator, name = test.partition("::")
    return name.replace("::", ".") if separator else test


def _split_tracebacks(lines: Sequence[str]) -> list[tuple[str, list[str]]]:
    """Return each traceback with its title, without captured output."""
    found: list[tuple[str, list[str]]] = []
    inside = False
    for line in lines:
        heading = TRACEBACK_TITLE.match(line)
        if heading:
            found.append((heading[1], []))
            inside = True
        elif _SECTION_RULE.match(line) or re.match(r"^-+ Captured .* -+\s*$", line):
            inside = False
        elif inside:
            found[-1][1].append(line)
    return found


def _list_failures(found: Sequence[tuple[str, str, str]], sections: list[tuple[str, list[str]]]) -> Iterator[FailedTest]:
    left = list(sections)
    for test, outcome, message in found:
        if outcome not in (FAILED, ERROR):
            continue
        wanted = traceback_title_from_test(test)
        place = next((at for at, (name, _) in enumerate(left) if name == wanted or name.startswith(wanted + " (")), None)
        lines = left.pop(place)[1] if place is not None else []
        yield FailedTest(test, (_find_exception_line(lines) or message)[:MAX_MESSAGE_CHARACTERS], truncate_traceback(lines))


def _find_exception_line(lines: Sequence[str]) -> str:
    """Return the first line of the last exception."""
    reason, before = "", ""
    for line in lines:
        if line.startswith("E ") and not before.startswith("E"):
            reason = line[1:].strip()
        before = line
    return reason


FAILURE_SUMMARY_LINE = re.compile(r"^(?:FAILED|ERROR) (\S+::\S+)(?: - (.*))?$")
"""A line of the summary, which may be all that is left of a shortened output."""
PASSED_TEST_LINE = re.compile(r"^(?:\[gw\d+\] \[ *\d+%\] PASSED (\S+::\S.*)|((?=\S+?::\S)\S.*) PASSED(?: +\[ *\d+%\])?)$")
"""A passed test of a verbose run, with or without xdist."""
INTERRUPTED_RUN = re.compile(r"^!+ .*(?:Interrupted|stopping after|KeyboardInterrupt)|^ERROR collecting|no tests ran")


def read_pytest_run(output: CommandOutput) -> OutputReading | None:
    outcomes = read_pytest_outcomes(output.text)
    if outcomes is None or not outcomes.readable:
        return None
    failures = outcomes.failures or tuple(
        FailedTest(match[1], match[2] or "") for line in output.lines if (match := FAILURE_SUMMARY_LINE.match(line))
    )
    counts = OutcomeCounts(outcomes.failed, outcomes.passed, outcomes.skipped)
    whole = not any(INTERRUPTED_RUN.search(line) for line in output.lines)
    ticked = [match[1] or match[2] for line in output.lines if (match := PASSED_TEST_LINE.match(line))]
    run = RunnerReport("pytest", counts, outcomes.passing.union(ticked), whole)
    return reading_from_test_run(run, locate_pytest_failures(output, failures[:MAX_FINDINGS]), [one.test for one in failures])


def locate_pytest_failures(output: CommandOutput, failures: Sequence[FailedTest]) -> list[FailingTest]:
    """Return each failure with its lines: those of its traceback, otherwise that of the summary."""
    sections = locate_tracebacks(output.lines)
    return [FailingTest(one.test, one.message, find_pytest_failure_lines(output, one, sections)) for one in failures]


def locate_tracebacks(lines: Sequence[str]) -> list[tuple[str, int, int]]:
    """Return the title of each traceback, and its first and last line."""
    starts = [
        (match[1], place) for place, line in enumerate(lines) if line.startswith("_") and (match := TRACEBACK_TITLE.match(line))
    ]
    ends = [place for _, place in starts[1:]] + [len(lines)]
    return [(name, start, end) for (name, start), end in zip(starts, ends, strict=False)]


def find_pytest_failure_lines(
    output: CommandOutput, failure: FailedTest, sections: list[tuple[str, int, int]]
) -> tuple[int, int]:
    wanted, lines = traceback_title_from_test(failure.test), output.lines
    for number, (name, start, end) in enumerate(sections):
        if name == wanted or name.startswith(wanted + " ("):
            del sections[number]
            said = [place for place in range(start, end) if lines[place].startswith("E ") and failure.message in lines[place]]
            if said:
                return output.span(said[-1])
            break
    said, named = ("FAILED ", "ERROR ", "SUBFAIL"), f" {failure.test} - "
    told = [place for place, line in enumerate(lines) if line.startswith(said) and named in f"{line} - "]
    return output.span(told[-1]) if told else (0, 0)
