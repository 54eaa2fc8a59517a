"""How the checks stand before the first change, and whether they can judge anything at all."""

import json
import re
from collections.abc import Sequence
from dataclasses import replace

from afresh.core.action import RunManner
from afresh.core.archived_block import Block, block_id_from_text
from afresh.core.progress_event import BaselineRunBegan, ProgressListener, ignore_progress
from afresh.core.task import Check, Task
from afresh.core.verdict import Baseline, CheckRun
from afresh.ports.tool import ToolContext
from afresh.verification.checks import CheckResult, run_check
from afresh.verification.project_linters import find_formatter, measure_linters
from afresh.verification.regressions import judge_baseline_run

NO_CHECKS_REASON = "no checks were given, so nothing can be verified (`--check COMMAND` gives one)"
REPEAT_IF_SHORT = ""
REPEAT_NEVER = "once"
LONG_CHECK_SECONDS = 60.0
MeasuredBaseline = tuple[Baseline, tuple[Block, ...]]


def run_baseline_checks(
    context: ToolContext, tell: ProgressListener = ignore_progress, repeat: str = REPEAT_IF_SHORT, with_linters: bool = True
) -> MeasuredBaseline:
    """Every check in the tree as it is, mostly twice; the last run stands, what differed between the two is flaky."""
    ran = [_run_once_or_twice(context, check, tell, repeat) for check in context.state.task.checks]
    flaky = sorted({test for first, *more in ran for second in more for test in _find_flaky_tests(first, second)})
    files = [_record_files(runs) for runs in ran]
    blocks = (*(block for runs in ran for one in runs for block in one.blocks), *(block for block in files if block.text))
    measure = context.insight.measure(context.state, context.files)
    judged = [judge_baseline_run(runs[-1], frozenset(flaky), context.state.task) for runs in ran]
    last = tuple(
        replace(run, evidence=runs[-1].evidence, files=block.id if block.text else "")
        for (run, _), runs, block in zip(judged, ran, files, strict=True)
    )
    once = tuple(runs[0].run.command for runs in ran if len(runs) == 1)
    baseline = Baseline(last, tuple(flaky), measure, once, red=tuple(told for _, told in judged if told))
    if not with_linters:
        return baseline, blocks
    linters, counted = measure_linters(context)
    return replace(baseline, linters=linters, formatter=find_formatter(context)), (*blocks, *counted)


def _run_once_or_twice(context: ToolContext, check: Check, tell: ProgressListener, repeat: str) -> list[CheckResult]:
    tell(BaselineRunBegan(check.command, 1, 1 if repeat == REPEAT_NEVER else 2))
    manner = RunManner(watched=True)
    first = run_check(context.sandbox, check, manner=manner)
    if not needs_second_run(first.run, repeat):
        return [first]
    tell(BaselineRunBegan(check.command, 2, 2))
    return [first, run_check(context.sandbox, check, manner=manner)]


def _record_files(runs: Sequence[CheckResult]) -> Block:
    """Files that the runs of a check opened and wrote, together; an empty text where that is not known."""
    seen = [one.files for one in runs if one.files and not one.files.gap]
    if len(seen) < len(runs):
        return Block("", "")
    parts = {kind: sorted({path for one in seen for path in getattr(one, kind)}) for kind in ("opened", "written")}
    text = json.dumps(parts, ensure_ascii=True)
    return Block(block_id_from_text(text), text)


def needs_second_run(first: CheckRun, repeat: str) -> bool:
    """A long check that passed is not run again: a test of it that fails later is run again before it decides anything."""
    if repeat != REPEAT_IF_SHORT:
        return repeat != REPEAT_NEVER
    return first.exit != 0 or first.timed_out or first.seconds <= LONG_CHECK_SECONDS


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
    if run.exit != 127:
        return ""
    named = re.search(r"([^\s:]+): (?:command )?not found", said)
    program = named[1] if named else run.command.split()[0]
    return f"{program} was not found" if "/" not in program else ""
