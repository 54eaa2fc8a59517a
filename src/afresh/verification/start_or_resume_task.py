"""Before the first step, and before every step after a crash: a sound tree, and the baseline."""

from afresh.context.calibration import adopt_project_calibration
from afresh.core.decision import SANDBOX_WAIVER, UNSANDBOXED_DECISION, Decision
from afresh.core.event import BaselineMeasured, DecisionMade, Event, TaskClaimed, TaskEnded
from afresh.core.progress_event import CheckScope, WorkNotice
from afresh.core.state import State
from afresh.core.task import TaskStatus
from afresh.journal.append import append_events
from afresh.policy.human_supervision import record_supervision_mode
from afresh.policy.licence_record import widen_licence
from afresh.policy.questions import ask_about_checks, is_told_to_work_without_checks
from afresh.runtime import Runtime
from afresh.verification.baseline import find_baseline_blocker, run_baseline_checks


def record_unsandboxed(state: State, runtime: Runtime) -> list[Event]:
    """That the user has waived the sandbox is recorded each time that somebody takes up the task."""
    return (
        [DecisionMade(Decision(UNSANDBOXED_DECISION, "person", step=state.work.step, waiver=SANDBOX_WAIVER))]
        if runtime.sandbox.level == "none"
        else []
    )


def prepare_task(state: State, worker: str, runtime: Runtime) -> State:
    """Claim the task on record, and put its tree as it was after the last step that ended."""
    started = [
        *record_supervision_mode(state, runtime),
        *record_unsandboxed(state, runtime),
        *adopt_project_calibration(state, runtime),
    ]
    return open_tree(append_events(state, runtime, [TaskClaimed(worker), *started]), runtime)


def open_tree(state: State, runtime: Runtime) -> State:
    runtime.report_progress(WorkNotice("opening a worktree"))
    opened = runtime.workspace.open()
    if not state.workspace.first_snapshot:
        state = append_events(state, runtime, [opened])
    runtime.workspace.restore(state.workspace.snapshot)
    if widened := widen_licence(state, runtime.tool_context(state).files.paths()):
        state = append_events(state, runtime, [*widened])
    return state if has_sound_baseline(state) else measure_baseline(state, runtime)


def has_sound_baseline(state: State) -> bool:
    """A baseline that can judge nothing is taken again when a person has answered, unless the answer is to go on without."""
    if state.verification.baseline is None or state.spending.calls or not state.task.checks:
        return state.verification.baseline is not None
    return not find_baseline_blocker(state.task, state.verification.baseline) or is_told_to_work_without_checks(
        state.memory.decisions
    )


def measure_baseline(state: State, runtime: Runtime) -> State:
    with runtime.report_check(CheckScope.BASELINE):
        baseline, blocks = run_baseline_checks(runtime.tool_context(state))
    runtime.workspace.restore(state.workspace.snapshot)
    events: list[Event] = [BaselineMeasured(baseline)]
    if state.task.checks and (stop := find_baseline_blocker(state.task, baseline)):
        events += [ask_about_checks(stop), TaskEnded(TaskStatus.BLOCKED, stop)]
    return append_events(state, runtime, events, blocks)
