"""Whether a step is progress that something other than the model has verified."""

from collections.abc import Sequence
from dataclasses import replace

from afresh.core.event import ChangeKeptOrReverted
from afresh.core.state import State, select_task_failures
from afresh.core.states.progress_state import MAX_BEST_CHECKS, BestCheckResult, VerifiedProgress
from afresh.core.step_result import StepResult, find_current_plan
from afresh.core.verdict import TARGETED_SCOPE_PREFIX, Baseline, CheckRun, Verdict
from afresh.policy.stall.step_trace import hash_parts

MAX_FIXED_TESTS = 40


def measure_progress(state: State, step: StepResult) -> VerifiedProgress | None:
    """What is verified from now on, with the reason if it is more than before; None when nothing has been learnt."""
    before = replace(state.work.progress.gain, why="")
    now = count_plan_progress(before, state, step)
    if step.verdict and step.kept:
        now = count_test_progress(now, step.verdict, state.verification.baseline or Baseline())
    if step.kept and step.changes and not is_progress_measurable(state):
        now = count_changed_files(now, step)
    return now if now != before else None


def is_progress_measurable(state: State) -> bool:
    """Whether there is anything of the task's that could newly pass or become fewer."""
    baseline = state.verification.baseline or Baseline()
    failing = [failure for run in baseline.runs for failure in select_task_failures(run.failures, state.topic)]
    return not state.task.report and (baseline.measure > 0 or any(run.exit for run in baseline.runs if failing))


def count_plan_progress(gain: VerifiedProgress, state: State, step: StepResult) -> VerifiedProgress:
    """An item that is done counts with a change that was kept since the last progress."""
    items = find_current_plan(state.work.plan, step)
    done, kept = sum(item.done for item in items), step.kept and bool(step.changes)
    if done <= gain.done:
        return replace(gain, done=done) if items is not state.work.plan else gain
    moved = kept or state.workspace.last_change > state.work.progress.since
    return replace(gain, done=done, why=gain.why or "an item of the plan is done") if moved else gain


def count_test_progress(gain: VerifiedProgress, verdict: Verdict, baseline: Baseline) -> VerifiedProgress:
    """Fewer of what the type counts, tests that failed before and pass now, or more tests that pass."""
    lowest = gain.measure if gain.measure >= 0 else baseline.measure
    if verdict.measure < lowest:
        gain = replace(gain, why=f"{lowest} → {verdict.measure} violations")
    mended = tuple(dict.fromkeys((*gain.mended, *find_newly_passing_tests(verdict, baseline))))[:MAX_FIXED_TESTS]
    if len(mended) > len(gain.mended):
        gain = replace(gain, why=f"{len(mended) - len(gain.mended)} tests newly pass")
    for run in verdict.runs:
        gain = update_best_run(gain, run, baseline)
    return replace(gain, measure=min(lowest, verdict.measure), mended=mended)


def update_best_run(gain: VerifiedProgress, run: CheckRun, baseline: Baseline) -> VerifiedProgress:
    """A check that fails in less, or passes in more, than it ever did."""
    source = hash_parts(run.command, run.scope)
    known = next((best for best in gain.bests if best.source == source), None) or best_run_from_baseline(source, run, baseline)
    failed = run.failed or int(run.exit != 0)
    now = BestCheckResult(source, failed, run.passed)
    if known and (failed, -run.passed) >= (known.failed, -known.passed):
        return gain
    others = [best for best in gain.bests if best.source != source]
    why = f"{run.command}: {run.passed} pass, {failed} fail" if known else gain.why
    return replace(gain, bests=(*others, now)[-MAX_BEST_CHECKS:], why=why)


def best_run_from_baseline(source: str, run: CheckRun, baseline: Baseline) -> BestCheckResult | None:
    """How it stood before the task, if that very check was run then."""
    past = [check_run for check_run in baseline.runs if check_run.command == run.command and check_run.scope == run.scope]
    return BestCheckResult(source, past[0].failed or int(past[0].exit != 0), past[0].passed) if past else None


def find_newly_passing_tests(verdict: Verdict, baseline: Baseline) -> Sequence[str]:
    """Tests that failed before the task and were run now without failing."""
    failing = [failure.test for run in baseline.runs for failure in run.failures if "::" in failure.test]
    tests = list[str]()
    for run in verdict.runs:
        whole = run.failed <= len(run.failures) and not run.timed_out and run.passed > 0
        still = {failure.test for failure in run.failures}
        tests += [test for test in failing if whole and test not in still and is_test_in_scope(run, test)]
    return tests


def is_test_in_scope(run: CheckRun, test: str) -> bool:
    return run.scope == "full" or test.partition("::")[0] in run.scope.removeprefix(TARGETED_SCOPE_PREFIX).split(", ")


def count_changed_files(gain: VerifiedProgress, step: StepResult) -> VerifiedProgress:
    """Where no check can say more, a file that is changed for the first time does."""
    paths = max((len(event.changed) for event in step.events if isinstance(event, ChangeKeptOrReverted)), default=0)
    return replace(gain, paths=paths, why=gain.why or "one more file is changed") if paths > gain.paths else gain
