"""What test runners report to us directly, instead of in what they print: the better evidence.

A check runs with `sandbox.run(..., reports=True)`: its runner writes into the folder `$AFRESH_REPORTS`, and each file comes back
in `CommandRun.reports` by name (see `sandbox/report_folder.py`). A report is read to a `SessionReport`; `checks.py` asks
`read_session_reports` first and falls back to the printed text. There are two kinds:

- Signed: `pytest-00`, `unittest-00` … are written by our reporters in `sandbox/reporters`, which run inside the runner. The first
  line is one of `CommandRun.keys`, which code under test can't read. Any other file of such a name is ignored.
- A runner's own machine format: see `runner_reports.py`. Code under test could write such a file, too, so its evidence is no
  better than that of text.
"""

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, cast

from afresh.core.action import CommandRun
from afresh.core.text import replace_lone_surrogates
from afresh.core.verdict import EvidenceSource, FailedTest, TestEvidence
from afresh.outputs.outcomes import (
    ERROR,
    FAILED,
    PASSED,
    SKIPPED,
    OutcomesByTest,
    keep_worst_outcome,
)


@dataclass(frozen=True, slots=True)
class SessionReport:
    """One session of a test runner, from its start to its end."""

    outcomes: Mapping[str, str] = field(default_factory=dict[str, str])
    messages: Mapping[str, str] = field(default_factory=dict[str, str])
    """What failing tests said."""
    collected: tuple[str, ...] = ()
    """All tests that were to run."""
    exit: int = 0
    """What the runner was about to exit with."""
    altered: tuple[str, ...] = ()
    """Functions of the runner that were not what they had been at the start."""
    library: tuple[str, ...] = ()
    """The same of the standard library."""
    raised: tuple[str, ...] = ()
    """Tests that raised an error and were not expected to."""
    foreign: tuple[str, ...] = ()
    """Tests whose code is not in a test file."""
    plugins: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    """Top-level names of all that the runner had loaded before any code of the tree."""

    @property
    def denied(self) -> tuple[str, ...]:
        """Tests that raised, though the runner says that they did not fail."""
        return tuple(test for test in self.raised if self.outcomes.get(test) not in (FAILED, ERROR))


_SIGNED_NAMES = ("pytest-", "unittest-")
_KINDS = ("collected", "altered", "library", "raised", "foreign", "plugins", "modules")
_OUTCOMES = frozenset({PASSED, FAILED, SKIPPED, ERROR})


def read_session_reports(done: CommandRun) -> tuple[SessionReport, ...]:
    """The sessions of a command that reported, in their order; empty if none did or the run was cut short."""
    if done.timed_out:
        return ()
    files = sorted(done.reports.items())
    signed = [read_signed_report(text, done.keys) for name, text in files if name.startswith(_SIGNED_NAMES)]
    return tuple(report for report in signed if report)


def read_signed_report(text: str, keys: Sequence[str]) -> SessionReport | None:
    """None for what is not by our reporter."""
    key, _, body = text.partition("\n")
    if key not in keys:
        return None
    try:
        held = cast("dict[str, Any]", replace_lone_surrogates(ast.literal_eval(body)))
        outcomes = {str(test): str(outcome) for test, outcome in held["outcomes"].items() if outcome in _OUTCOMES}
        messages = {str(test): str(message) for test, message in held["messages"].items()}
        names = {kind: tuple(map(str, held[kind])) for kind in _KINDS}
        return SessionReport(outcomes, messages, exit=int(held["exit"]), **names)
    except (ValueError, SyntaxError, KeyError, TypeError, AttributeError, RecursionError, MemoryError):
        return None


def outcomes_from_reports(reports: Sequence[SessionReport], printed: OutcomesByTest) -> OutcomesByTest:
    """What the sessions say together; of each failure the traceback that was printed, if there is one."""
    tests = keep_worst_outcome((test, outcome) for report in reports for test, outcome in report.outcomes.items())
    told = list(tests.values())
    shown = {failure.test: failure for failure in printed.failures}
    messages = {test: message for report in reports for test, message in report.messages.items()}
    failing = [test for test, outcome in tests.items() if outcome in (FAILED, ERROR)]
    failures = tuple(shown.get(test) or FailedTest(test, messages.get(test, "")) for test in failing)
    return OutcomesByTest(
        tests, told.count(PASSED), told.count(FAILED) + told.count(ERROR), told.count(SKIPPED), bool(tests), failures
    )


def evidence_from_reports(reports: Sequence[SessionReport], printed: OutcomesByTest, source: EvidenceSource) -> TestEvidence:
    """What the outcomes rest on, and what is odd about it. Without a report of ours they were read from `source`."""
    if not reports:
        return TestEvidence(source if printed.readable else EvidenceSource.EXIT)
    ran = {test for report in reports for test in report.outcomes}
    return TestEvidence(
        source=EvidenceSource.REPORT,
        exit=max(report.exit for report in reports),
        unfinished=tuple(sorted({test for report in reports for test in report.collected} - ran)),
        altered=_merge(report.altered for report in reports),
        library=_merge(report.library for report in reports),
        denied=_merge(report.denied for report in reports),
        foreign=_merge(report.foreign for report in reports),
        plugins=_merge(report.plugins for report in reports),
        modules=_merge(report.modules for report in reports),
    )


def _merge(names: Any) -> tuple[str, ...]:
    return tuple(sorted(set(chain.from_iterable(names))))
