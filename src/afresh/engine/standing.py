"""How the checks stand, in words: before the task, and after the step that ran them last."""

from collections import Counter

from afresh.domain.state import State
from afresh.domain.task import RECORDED_TYPE, Task
from afresh.domain.verdict import CheckRun, FailedTest, Ruling
from afresh.engine.verify import DOCUMENT_CHECK_LIMITS, list_document_demands, summarise_check_run

MAX_FAILURES_PER_CHECK = 3
MAX_FLAKY_NAMES = 6
KEPT_UNFINISHED = "kept, not finished"
"""Nothing that passed before fails; what is new still does."""


def render_finish_criteria(task: Task) -> list[str]:
    """When the task counts as finished, for the window."""
    if task.type == RECORDED_TYPE:
        return []
    if task.report:
        commands = [f"- `{check.command}` exits 0" for check in task.checks]
        return [
            f"Write `{task.report}`, and no other file. Finished when:",
            *(f"- {one}" for one in list_document_demands(task)),
            *commands,
        ]
    checks = [f"- `{check.command}`" for check in task.checks]
    return ["Finished when these exit 0:", *(checks or ["- nothing: no check was given, so nothing can be verified"])]


def render_check_status(state: State) -> list[str]:
    if state.baseline is None:
        return ["not run yet"]
    lines = [DOCUMENT_CHECK_LIMITS] if state.task.report else []
    lines += [f"Before the task: {summarise_check_run(run)}" for run in state.baseline.runs]
    if state.baseline.flaky:
        lines.append(f"Flaky, decide nothing: {', '.join(state.baseline.flaky[:MAX_FLAKY_NAMES])}")
    if state.verdict is None:
        return lines + [line for run in state.baseline.runs for line in _render_failures(run)]
    kind = "completion" if state.verdict.final else "change"
    verdict = state.verdict
    unfinished = verdict.ruling is Ruling.PASS and not verdict.final and any(run.failures for run in verdict.runs)
    lines.append(
        f"After step {state.verdict_step} ({kind}): {KEPT_UNFINISHED if unfinished else verdict.ruling}: {verdict.reason}"
    )
    for run in [run for run in verdict.runs if run.failures or verdict.ruling is not Ruling.PASS]:
        lines += [] if summarise_check_run(run) in verdict.reason else [f"  {summarise_check_run(run)}"]
        lines += _render_failures(run)
    if state.verdict_step < state.step and state.recent and not state.recent[-1].kept:
        lines.append("(the tree is back as it was before that step)")
    return lines


def _render_failures(run: CheckRun) -> list[str]:
    """Failures once: the same message of many tests is one line with a count."""
    groups = Counter(failure.message for failure in run.failures)
    first: dict[str, FailedTest] = {failure.message: failure for failure in reversed(run.failures)}
    lines: list[str] = []
    for message, count in list(groups.items())[:MAX_FAILURES_PER_CHECK]:
        named = first[message].test + (f" and {count - 1} more" if count > 1 else "")
        lines.append(f"  FAILED {named}: {message}")
        lines += [f"    {line}" for line in first[message].detail.splitlines()[-8:]]
    return lines
