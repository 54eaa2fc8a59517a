"""Parses the reports of mocha (`--reporter json`) and of node --test, as `core/test_runners.py` has it report."""

import re
from collections.abc import Iterator
from typing import Any

from afresh.core.text import read_foreign_json
from afresh.outputs.test_reports.outcomes import ERROR, FAILED, PASSED, SKIPPED, ReportedTest, name_in_file

OUTCOMES = frozenset({PASSED, FAILED, SKIPPED})
ERROR_LINE = re.compile(r"^\w{0,60}Error\b", re.MULTILINE)
NOTHING_SAID = "test failed"
"""All that node knows of a file that ended with an error: the error itself was printed."""


def parse_node_report(text: str) -> Iterator[ReportedTest]:
    """Yield each test; a suite only if it fails by itself, a file only if it can't be loaded. ValueError if it is no report."""
    for line in text.splitlines():
        one = read_foreign_json(line)
        names, outcome = tuple(map(str, one["names"])), one["outcome"]
        if outcome not in OUTCOMES or one["why"] == "subtestsFailed" or (one["parent"] and outcome != FAILED):
            continue
        if not names and outcome != FAILED:
            continue
        alone = one["parent"] or not names
        yield ReportedTest(name_in_file(one["file"], names), ERROR if alone else outcome, _tell_node_failure(one))


def _tell_node_failure(one: dict[str, Any]) -> str:
    printed = str(one["printed"])
    if one["text"] != NOTHING_SAID or not printed:
        return str(one["text"])
    error = ERROR_LINE.search(printed)
    return printed[error.start() :] if error else printed


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
        said = str(error.get("stack") or error.get("message") or "")
        yield ReportedTest(name_in_file(test.get("file") or "", (name,) if name else ()), ERROR if hook else FAILED, said)
