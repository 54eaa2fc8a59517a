"""How the checks stand before the first change, and whether they can judge anything at all."""

import re
from dataclasses import replace

from afresh.core.archived_block import Block
from afresh.core.task import FIX_VIOLATION_TYPE, Task
from afresh.core.verdict import Baseline, CheckRun
from afresh.outputs.test_reports.outcomes import OutcomesByTest, outcomes_from_json
from afresh.ports.storage import JournalStore
from afresh.ports.tool import ToolContext
from afresh.verification.checks import CheckResult, run_check

NO_CHECKS_REASON = (
    "no checks were given: nothing can be verified. Give the command that must succeed, for example --check 'python -m pytest -q'"
)


def run_baseline_checks(context: ToolContext) -> tuple[Baseline, tuple[Block, ...]]:
    """Every check twice in the tree as it is; the second run stands, what differed between the two is flaky."""
    pairs = [(run_check(context.sandbox, check), run_check(context.sandbox, check)) for check in context.state.task.checks]
    flaky = sorted({test for first, second in pairs for test in _find_flaky_tests(first, second)})
    blocks = tuple(block for pair in pairs for ran in pair for block in ran.blocks)
    measure = context.insight.measure(context.state, context.files)
    runs = tuple(replace(second.run, evidence=second.evidence) for _, second in pairs)
    return Baseline(runs, tuple(flaky), measure), blocks


def _find_flaky_tests(first: CheckResult, second: CheckResult) -> set[str]:
    """Tests with two outcomes; the command itself when its tests can't be named and it ended in two ways."""
    if first.outcomes.tests and second.outcomes.tests:
        mine, other = first.outcomes.tests, second.outcomes.tests
        return {test for test in mine.keys() | other.keys() if mine.get(test) != other.get(test)}
    same = (first.run.exit, first.run.timed_out) == (second.run.exit, second.run.timed_out)
    return set() if same else {second.run.command}


def find_baseline_blocker(task: Task, baseline: Baseline) -> str:
    """Why these checks can never verify the task, and what to do; empty when they can."""
    if not task.checks:
        return NO_CHECKS_REASON
    if task.judged_as == FIX_VIOLATION_TYPE and not baseline.measure:
        return "there is nothing to fix: no function in its scope is over the limit. Name another place, or discard the task"
    for check, run in zip(task.checks, baseline.runs, strict=True):
        if run.timed_out and run.command not in baseline.flaky:
            return (
                f"`{check.command}` did not end within {check.timeout} s, twice, before anything was changed: "
                "nothing can be verified. Give a check that ends, or more time"
            )
        if missing := _find_missing_program(run):
            return f"`{check.command}` can't run: {missing}. Install it where the sandbox can see it, or give another check"
    if all(run.command in baseline.flaky for run in baseline.runs):
        return "every check gave two answers for one and the same tree: nothing can be verified. Give a check that is repeatable"
    return ""


def _find_missing_program(run: CheckRun) -> str:
    """A script of the tree's own may be what the task is to write; a program that is not installed is not."""
    said = " ".join(f"{failure.message} {failure.detail}" for failure in run.failures)
    module = re.search(r"No module named '?(pytest|nose2?|tox|nox|coverage)'?\s*$", said)
    if module and not run.tests:
        return f"Python has no module {module[1]}"
    program = run.command.split()[0]
    return f"{program} was not found" if run.exit == 127 and "/" not in program else ""


def load_baseline_outcomes(store: JournalStore, run: CheckRun) -> OutcomesByTest:
    """What was known of each test at the baseline."""
    tests = outcomes_from_json(store.read(run.tests)) if run.tests else {}
    known = OutcomesByTest(tests)
    return OutcomesByTest(tests, run.passed, run.failed, run.skipped, bool(tests) and len(known.passing) >= run.passed)
