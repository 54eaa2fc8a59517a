"""Reads the reports that test runners write into files: JSON of jest, vitest, mocha and node, JUnit XML, and TAP."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any
from xml.etree import ElementTree

from afresh.core.text import read_foreign_json
from afresh.outputs.outcomes import ERROR, FAILED, PASSED, SKIPPED, ReportedTest, name_in_file, split_plain_lines


def parse_jest_report(text: str) -> Iterator[ReportedTest]:
    """Yield each test of a JSON report. A file that can't be loaded is an error by its own name. ValueError if it is none."""
    for file in read_foreign_json(text)["testResults"]:
        path, tests = str(file["name"]), file["assertionResults"]
        for test in tests:
            status = test["status"]
            note = "\n".join(map(str, test.get("failureMessages") or ()))
            outcome = status if status in (PASSED, FAILED) else SKIPPED
            yield ReportedTest(name_in_file(path, (*test["ancestorTitles"], test["title"])), outcome, note)
        if file.get("status") == "failed" and not any(test["status"] == "failed" for test in tests):
            yield ReportedTest(name_in_file(path, ()), ERROR, str(file.get("message", "")))


def parse_mocha_report(text: str) -> Iterator[ReportedTest]:
    """Yield each test. A hook that fails is an error of its suite, whose tests do not run. ValueError if it is no report."""
    report = read_foreign_json(text)
    for outcome, tests in ((PASSED, report["passes"]), (SKIPPED, report["pending"])):
        for test in tests:
            yield ReportedTest(name_in_file(test.get("file") or "", (test["fullTitle"],)), outcome)
    for test in report["failures"]:
        hook = '" hook' in test["title"]
        name = test["fullTitle"].removesuffix(test["title"]).strip() if hook else test["fullTitle"]
        error: dict[str, Any] = test.get("err") or {}
        note = str(error.get("stack") or error.get("message") or "")
        yield ReportedTest(name_in_file(test.get("file") or "", (name,) if name else ()), ERROR if hook else FAILED, note)


ERROR_LINE = re.compile(r"^\w{0,60}Error\b", re.MULTILINE)
NOTHING_SAID = "test failed"
"""All that node knows of a file that ended with an error: the error itself was printed."""


def parse_node_report(text: str) -> Iterator[ReportedTest]:
    """Yield each test; a suite only if it fails by itself, a file only if it can't be loaded. ValueError if it is no report."""
    for line in text.splitlines():
        foreign_json = read_foreign_json(line)
        names, outcome = tuple(map(str, foreign_json["names"])), foreign_json["outcome"]
        alone = foreign_json["parent"] or not names
        if outcome not in (PASSED, FAILED, SKIPPED) or foreign_json["why"] == "subtestsFailed" or (alone and outcome != FAILED):
            continue
        said, printed = str(foreign_json["text"]), str(foreign_json["printed"])
        if said == NOTHING_SAID and printed:
            error = ERROR_LINE.search(printed)
            said = printed[error.start() if error else 0 :]
        yield ReportedTest(name_in_file(foreign_json["file"], names), ERROR if alone else outcome, said)


XML_HEAD = re.compile(r"<\?xml[^>]{0,200}\?>")
OUTCOME_BY_ELEMENT = {"failure": FAILED, "error": ERROR, "skipped": SKIPPED}


def parse_junit_reports(text: str) -> Iterator[ReportedTest]:
    """Yield each test of several reports, one after another. ValueError if one can't be read, or defines entities."""
    for report in filter(str.strip, XML_HEAD.split(text)):
        if "<!" in report.replace("<![CDATA[", ""):
            raise ValueError("a test report has no definitions")
        try:
            root = ElementTree.fromstring(report.strip())
        except ElementTree.ParseError as error:
            raise ValueError(f"no XML: {error}") from error
        for case in root.iter("testcase"):
            name = f"{case.get('classname') or case.get('file') or 'tests'}::{case.get('name') or 'unnamed'}"
            found = next(((case.find(tag), end) for tag, end in OUTCOME_BY_ELEMENT.items() if case.find(tag) is not None), None)
            element, outcome = found or (None, PASSED)
            note = "" if element is None else element.text or element.get("message") or ""
            yield ReportedTest(name, outcome, note)


TAP_POINT = re.compile(r"^( *)(ok|not ok)\b(?: +\d+)?(?: +-)?(?: +(.*))?$")
TAP_PLAN = re.compile(r"^ *(?:TAP version \d+|1\.\.\d+)")
TAP_DIRECTIVE = re.compile(r"(?<!\\)# *(skip|todo|time=)", re.IGNORECASE)
TAP_CLOSED = re.compile(r"^( *)\}$")
DIAGNOSIS_KEY = re.compile(r"^(\w+):(.*)$")
DIFF_HEAD = re.compile(r"--- |\+\+\+ |@@ ")
SHOWN_KEYS = frozenset({"error", "message", "diff", "expected", "actual", "found", "wanted"})
TEST_FILE = re.compile(r"^[\w@./-]{1,300}\.\w{1,6}$")
TAP_INDENT = 4
MAX_TAP_DEPTH = 20
MAX_DIAGNOSIS_LINES = 80


@dataclass(slots=True)
class TapPoint:
    """A line `ok` or `not ok`, with the block below it."""

    names: tuple[str, ...]
    outcome: str
    diagnosis: list[str] = field(default_factory=list[str])


def parse_tap(text: str) -> Iterator[ReportedTest]:
    """Yield each assertion or test without others in it, under the names of those it is in; nothing unless it is TAP."""
    lines = split_plain_lines(text)
    for point in collect_tap_points(lines) if any(TAP_PLAN.match(line) for line in lines) else ():
        file, *rest = point.names
        inside = bool(TEST_FILE.match(file.rpartition("/")[2])) and " " not in file
        test = name_in_file(file, rest) if inside else " › ".join(point.names)
        broken = point.outcome == FAILED and "::" not in test and TEST_FILE.match(file)
        yield ReportedTest(test, ERROR if broken else point.outcome, "\n".join(select_diagnosis(point.diagnosis)))


def collect_tap_points(lines: Sequence[str]) -> list[TapPoint]:
    """What is in a subtest comes before its own line, or after it between braces."""
    levels: list[list[TapPoint]] = [[] for _ in range(MAX_TAP_DEPTH + 2)]
    opened: dict[int, TapPoint] = {}
    last: TapPoint | None = None
    for line in lines:
        depth = min((len(line) - len(line.lstrip(" "))) // TAP_INDENT, MAX_TAP_DEPTH)
        if match := TAP_POINT.match(line):
            name = match[3] or ""
            directive = TAP_DIRECTIVE.search(name)
            skipped = directive is not None and directive[1].lower() in ("skip", "todo")
            outcome = SKIPPED if skipped else PASSED if match[2] == "ok" else FAILED
            last = TapPoint(((name[: directive.start()] if directive else name).rstrip(" {") or "unnamed",), outcome)
            if name.endswith("{"):
                opened[depth] = last
            else:
                close_subtest(levels, depth, last)
        elif TAP_CLOSED.match(line) and (owner := opened.pop(depth, None)):
            close_subtest(levels, depth, owner)
            last = None
        elif last is not None and line.startswith(" ") and len(last.diagnosis) < MAX_DIAGNOSIS_LINES:
            last.diagnosis.append(line)
            last = None if line.strip() == "..." else last
    return levels[0]


def close_subtest(levels: list[list[TapPoint]], depth: int, point: TapPoint) -> None:
    """A subtest that fails although all in it is fine fails by itself."""
    inside, levels[depth + 1] = levels[depth + 1], []
    levels[depth] += [TapPoint((*point.names, *tap_point.names), tap_point.outcome, tap_point.diagnosis) for tap_point in inside]
    broken = any(tap_point.outcome in (FAILED, ERROR) for tap_point in inside)
    if not inside or (point.outcome == FAILED and not broken):
        point.outcome = ERROR if inside and point.outcome == FAILED else point.outcome
        levels[depth].append(point)


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
