"""How the checks stand, in words: before the task, and after the step that ran them last."""

from collections import Counter

from afresh.domain.state import State
from afresh.domain.task import RECORDED, Task
from afresh.domain.verdict import CheckRun, Failure, Ruling
from afresh.engine.verify import NOT_JUDGED, demands, summary

SHOWN_FAILURES = 3
NAMED = 6
KEPT = "kept, not finished"
"""Nothing that passed before fails; what is new still does."""


def criteria(task: Task) -> list[str]:
    """When the task counts as finished, for the window."""
    if task.type == RECORDED:
        return []
    if task.report:
        commands = [f"- `{check.command}` exits 0" for check in task.checks]
        return [f"Write `{task.report}`, and no other file. Finished when:", *(f"- {one}" for one in demands(task)), *commands]
    checks = [f"- `{check.command}`" for check in task.checks]
    return ["Finished when these exit 0:", *(checks or ["- nothing: no check was given, so nothing can be verified"])]


def standing(state: State) -> list[str]:
    if state.baseline is None:
        return ["not run yet"]
    lines = [NOT_JUDGED] if state.task.report else []
    lines += [f"Before the task: {summary(run)}" for run in state.baseline.runs]
    if state.baseline.flaky:
        lines.append(f"Flaky, decide nothing: {', '.join(state.baseline.flaky[:NAMED])}")
    if state.verdict is None:
        return lines + [line for run in state.baseline.runs for line in failing(run)]
    kind = "completion" if state.verdict.final else "change"
    verdict = state.verdict
    unfinished = verdict.ruling is Ruling.PASS and not verdict.final and any(run.failures for run in verdict.runs)
    lines.append(f"After step {state.verdict_step} ({kind}): {KEPT if unfinished else verdict.ruling}: {verdict.reason}")
    for run in [run for run in verdict.runs if run.failures or verdict.ruling is not Ruling.PASS]:
        lines += [] if summary(run) in verdict.reason else [f"  {summary(run)}"]
        lines += failing(run)
    if state.verdict_step < state.step and state.recent and not state.recent[-1].kept:
        lines.append("(the tree is back as it was before that step)")
    return lines


def failing(run: CheckRun) -> list[str]:
    """Failures once: the same message of many tests is one line with a count."""
    groups = Counter(failure.message for failure in run.failures)
    first: dict[str, Failure] = {failure.message: failure for failure in reversed(run.failures)}
    lines: list[str] = []
    for message, count in list(groups.items())[:SHOWN_FAILURES]:
        named = first[message].test + (f" and {count - 1} more" if count > 1 else "")
        lines.append(f"  FAILED {named}: {message}")
        lines += [f"    {line}" for line in first[message].detail.splitlines()[-8:]]
    return lines
