"""Before the first step, and before every step after a crash: a sound tree, and the baseline."""

from collections.abc import Sequence

from afresh.context.calibration import adopt_project_calibration
from afresh.context.sources.instructions import select_instruction_chain
from afresh.core.decision import SANDBOX_WAIVER, UNSANDBOXED_DECISION, Decision
from afresh.core.event import BaselineMeasured, DecisionMade, Event, TaskClaimed, TaskEnded
from afresh.core.instructions import InstructionChain
from afresh.core.progress_event import CheckScope, WorkNotice
from afresh.core.recognise_test_files import is_test_code
from afresh.core.state import State
from afresh.core.task import TaskStatus
from afresh.journal.append import append_events
from afresh.policy.human_supervision import record_supervision_mode
from afresh.policy.licence_record import NO_INSTRUCTIONS, widen_licence
from afresh.policy.questions import ask_about_checks, is_told_to_work_without_checks
from afresh.policy.standing_permissions import record_standing_permissions
from afresh.runtime import Runtime
from afresh.verification.baseline import find_baseline_blocker, run_baseline_checks
from afresh.verification.nothing_to_offer import explain_nothing_to_offer


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
        *record_standing_permissions(state, runtime),
        *adopt_project_calibration(state, runtime),
    ]
    return open_tree(append_events(state, runtime, [TaskClaimed(worker), *started]), runtime)


def open_tree(state: State, runtime: Runtime) -> State:
    runtime.report_progress(WorkNotice("opening a worktree"))
    opened = runtime.workspace.open()
    if not state.workspace.first_snapshot:
        state = append_events(state, runtime, [opened])
    runtime.workspace.restore(state.workspace.snapshot)
    paths = runtime.tool_context(state).files.paths()
    if widened := widen_licence(state, paths, read_first_instructions(state, paths, runtime)):
        state = append_events(state, runtime, [*widened])
    if has_sound_baseline(state):
        return state
    if reason := explain_nothing_to_offer(state, runtime):
        return append_events(state, runtime, [TaskEnded(TaskStatus.UNCHANGED, reason)])
    return measure_baseline(state, runtime)


def read_first_instructions(state: State, paths: Sequence[str], runtime: Runtime) -> InstructionChain:
    """The instructions as they are before the first step, those of folders with tests included; none afterwards. They are read
    from the user's checkout: what a task writes is not among them."""
    if runtime.knowledge.instructions is None or state.verification.baseline:
        return NO_INSTRUCTIONS
    folders = sorted({path.rpartition("/")[0] for path in paths if is_test_code(path) and "/" in path})
    return select_instruction_chain(state, runtime.knowledge.instructions, folders)


def has_sound_baseline(state: State) -> bool:
    """A baseline that can judge nothing is taken again when a person has answered, unless the answer is to go on without."""
    if state.verification.baseline is None or state.spending.calls or not state.task.checks:
        return state.verification.baseline is not None
    return not find_baseline_blocker(state.task, state.verification.baseline) or is_told_to_work_without_checks(
        state.memory.decisions
    )


def measure_baseline(state: State, runtime: Runtime) -> State:
    with runtime.report_check(CheckScope.BASELINE):
        context, repeat = runtime.tool_context(state), runtime.settings.baseline
        baseline, blocks = run_baseline_checks(context, runtime.report_progress, repeat, runtime.control.linters)
    runtime.workspace.restore(state.workspace.snapshot)
    events: list[Event] = [BaselineMeasured(baseline)]
    if state.task.checks and (stop := find_baseline_blocker(state.task, baseline)):
        events += [ask_about_checks(stop), TaskEnded(TaskStatus.BLOCKED, stop)]
    return append_events(state, runtime, events, blocks)
