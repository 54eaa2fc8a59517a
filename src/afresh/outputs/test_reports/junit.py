"""Parses JUnit XML, as Surefire and Gradle write it, and the text of Surefire."""

import re
from collections.abc import Iterator
from xml.etree import ElementTree

from afresh.core.verdict import FailedTest
from afresh.outputs.test_reports.outcomes import (
    ERROR,
    FAILED,
    PASSED,
    SKIPPED,
    OutcomesByTest,
    ReportedTest,
    split_plain_lines,
)

XML_HEAD = re.compile(r"<\?xml[^>]{0,200}\?>")
OUTCOME_BY_ELEMENT = {"failure": FAILED, "error": ERROR, "skipped": SKIPPED}
TOTALS_LINE = re.compile(r"^\[(?:ERROR|WARNING|INFO)\] Tests run: (\d+), Failures: (\d+), Errors: (\d+), Skipped: (\d+)$")
FAILED_TEST_LINE = re.compile(r"^\[ERROR\] ([\w.$]{1,200})\.([^\s.]{1,200}) +(?:--|\([\w.$]{1,200}\)) .*<<< (FAILURE|ERROR)!")


def parse_junit_reports(text: str) -> Iterator[ReportedTest]:
    """Yield each test of several reports, one after another. ValueError if one can't be read, or defines entities."""
    for report in XML_HEAD.split(text):
        if not report.strip():
            continue
        if "<!" in report.replace("<![CDATA[", ""):
            raise ValueError("a test report has no definitions")
        try:
            root = ElementTree.fromstring(report.strip())
        except ElementTree.ParseError as error:
            raise ValueError(f"no XML: {error}") from error
        for case in root.iter("testcase"):
            yield _parse_test_case(case)


def _parse_test_case(case: ElementTree.Element) -> ReportedTest:
    name = f"{case.get('classname') or case.get('file') or 'tests'}::{case.get('name') or 'unnamed'}"
    for element, outcome in OUTCOME_BY_ELEMENT.items():
        found = case.find(element)
        if found is not None:
            return ReportedTest(name, outcome, found.text or found.get("message") or "")
    return ReportedTest(name, PASSED)


def read_surefire_text(text: str) -> OutcomesByTest | None:
    """Return the counts and the failing tests; Surefire's text does not name those that pass."""
    lines = split_plain_lines(text)
    totals = [tuple(map(int, match.groups())) for line in lines if (match := TOTALS_LINE.match(line.strip()))]
    if not totals:
        return None
    ran, failures, errors, skipped = (sum(column) for column in zip(*totals, strict=True))
    found = {
        f"{match[1]}::{match[2]}": (place, ERROR if match[3] == "ERROR" else FAILED)
        for place, line in enumerate(lines)
        if (match := FAILED_TEST_LINE.match(line))
    }
    shown = tuple(
        FailedTest(test, lines[place + 1].strip() if place + 1 < len(lines) else "") for test, (place, _) in found.items()
    )
    tests = {test: outcome for test, (_, outcome) in found.items()}
    return OutcomesByTest(tests, ran - failures - errors - skipped, failures + errors, skipped, failures=shown)
