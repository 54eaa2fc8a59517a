"""Stand-alone: tells afresh what became of each test of a run of the standard library's unittest.

Every result class tells the base class of each outcome; what it is told there is reported once the run has ended. Imports nothing
of afresh, and works on any Python 3.
"""

import unittest
import unittest.result
from unittest.runner import TextTestRunner

import reporter_session  # pyright: ignore[reportMissingImports]

RANK = {"passed": 0, "skipped": 1, "failed": 2, "error": 3}
OUTCOME_BY_METHOD = {
    "addSuccess": "passed",
    "addSkip": "skipped",
    "addExpectedFailure": "skipped",
    "addFailure": "failed",
    "addUnexpectedSuccess": "failed",
    "addError": "error",
}
ACTIVE = []
"""The run that reports: the first of its process, since a test may start others."""
STOCK = {}
"""Taken before any code of the tree is loaded: a run begins when all test files are."""


def attach_to_unittest():
    for method, outcome in OUTCOME_BY_METHOD.items():
        setattr(unittest.result.TestResult, method, note_outcome(getattr(unittest.result.TestResult, method), outcome))
    for owner, method, wrap in ((unittest.result.TestResult, "addSubTest", note_subtest), (TextTestRunner, "run", report_run)):
        setattr(owner, method, wrap(getattr(owner, method)))
    STOCK.update(reporter_session.take_stock())


def name_test(test):
    """The id of a test, or of a class that can't be set up, as it is read from the printed report."""
    name = str(test.id())
    fixture, _, owner = name.partition(" (")
    return owner.rstrip(")") + "." + fixture if owner else name


def list_tests(suite):
    try:
        return [name for value in suite for name in list_tests(value)]
    except TypeError:
        return [name_test(suite)]


def record_outcome(test, outcome, error=None):
    for run in ACTIVE[:1]:
        name = name_test(test)
        if RANK[outcome] >= RANK[run["outcomes"].get(name, "passed")]:
            run["outcomes"][name] = outcome
        if error:
            run["messages"][name] = reporter_session.describe_error(*error[:2])


def note_outcome(method, outcome):
    def note(self, test, *args, **named):
        error = args[0] if args and isinstance(args[0], tuple) else None
        record_outcome(test, outcome, error if outcome in ("failed", "error") else None)
        return method(self, test, *args, **named)

    return note


def note_subtest(method):
    def note(self, test, subtest, error):
        if error is not None:
            record_outcome(test, "failed" if issubclass(error[0], test.failureException) else "error", error)
        return method(self, test, subtest, error)

    return note


def report_run(method):
    def run(self, test, *args, **named):
        if ACTIVE:
            return method(self, test, *args, **named)
        session = reporter_session.Session("unittest", STOCK)
        collected = sorted(list_tests(test))
        ACTIVE.append({"outcomes": {}, "messages": {}})
        try:
            result = method(self, test, *args, **named)
        finally:
            seen = ACTIVE.pop()
        session.write(
            dict(
                seen,
                exit=0 if result.wasSuccessful() else 1,
                collected=collected,
                raised=[],
                foreign=[],
                plugins=[],
                modules=session.modules,
                **reporter_session.find_altered(session.stock),
            )
        )
        return result

    return run
