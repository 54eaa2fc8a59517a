"""Before the first step, and before every step after a crash: a sound tree, and the baseline."""

from collections.abc import Generator
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as StillRunning
from contextlib import contextmanager

from afresh.context.calibration import adopt_project_calibration
from afresh.context.sources.instructions import select_instruction_chain
from afresh.core.decision import SANDBOX_WAIVER, UNSANDBOXED_DECISION, Decision
from afresh.core.event import BaselineMeasured, DecisionMade, Event, TaskClaimed, TaskEnded
from afresh.core.leave import FROM_INSTRUCTIONS, Grant, LeaveGiven
from afresh.core.progress_event import CheckScope, WorkNotice
from afresh.core.recognise_test_files import is_test_code
from afresh.core.state import State
from afresh.core.task import FIX_BUG_TYPE, TaskStatus
from afresh.core.tool_traits import ToolTrait, has_trait
from afresh.journal.append import append_events
from afresh.policy.human_supervision import record_supervision_mode
from afresh.policy.questions import ask_about_checks, is_told_to_work_without_checks
from afresh.policy.standing_permissions import record_standing_permissions
from afresh.runtime import Runtime
from afresh.verification.baseline import MeasuredBaseline, find_baseline_blocker, run_baseline_checks
from afresh.verification.nothing_to_offer import explain_nothing_to_offer

POLL_SECONDS = 0.25
"""Between two looks whether the run was stopped while the checks go on."""


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
    if grants := read_grants_of_instructions(state, runtime):
        state = append_events(state, runtime, [LeaveGiven(tuple(grants))])
    if not state.verification.baseline and (reason := explain_nothing_to_offer(state, runtime)):
        return append_events(state, runtime, [TaskEnded(TaskStatus.UNCHANGED, reason)])
    return state


def read_grants_of_instructions(state: State, runtime: Runtime) -> list[Grant]:
    """Tests that the front matter of an instruction file lets every task change, in its own folder. It is read before the first
    step, from the user's checkout: what a task writes is not among it."""
    if runtime.knowledge.instructions is None or state.verification.baseline:
        return []
    paths = runtime.tool_context(state).files.paths()
    folders = sorted({path.rpartition("/")[0] for path in paths if is_test_code(path) and "/" in path})
    chain = select_instruction_chain(state, runtime.knowledge.instructions, folders)
    grants = list[Grant]()
    for source, part in ((one, part) for one in chain.sources for part in one.parts):
        path, _, name = part.test_path.removeprefix("./").partition("::")
        is_folder = any(one.startswith(f"{path.rstrip('/')}/") for one in paths)
        place, inside = f"{path.rstrip('/')}/" if is_folder else path, f"{source.folder}/" if source.folder else ""
        if path and not (part.elsewhere or source.elsewhere) and place.startswith(inside):
            grants.append(Grant(place, name, FROM_INSTRUCTIONS, "allow_test_changes", f"{source.file}:{part.first}"))
    return [one for one in grants if one not in state.verification.leave]


def needs_baseline(state: State) -> bool:
    """Whether the next step waits for it: in a conversation, where a turn may only ask something, a reply that may change
    something; in a run any reply, and of a bug the first call, whose prompt shows what fails."""
    if not lacks_baseline(state):
        return False
    if state.work.pending is None:
        return state.task.judged_as == FIX_BUG_TYPE and not state.dialogue.turn
    return not state.dialogue.turn or any(has_trait(action, ToolTrait.CHANGES) for action in state.work.pending.reply.actions)


def lacks_baseline(state: State) -> bool:
    """One that could judge nothing is measured again once a person has answered, unless the answer is to go on without."""
    known = state.verification.baseline
    if known is None or state.verification.verdict or not state.task.checks:
        return known is None
    return bool(find_baseline_blocker(state.task, known)) and not is_told_to_work_without_checks(state.memory.decisions)


@contextmanager
def start_baseline(state: State, runtime: Runtime) -> Generator["Future[MeasuredBaseline] | None"]:
    """Run the checks in a thread, beside the first call of a run or for a step that needs them. They are ended when what is done
    beside them fails or is interrupted; nothing else uses the tree meanwhile."""
    if not lacks_baseline(state) or (state.dialogue.turn and not needs_baseline(state)):
        yield None
        return
    context, repeat, control = runtime.tool_context(state), runtime.settings.baseline, runtime.control
    stop = control.stop_command
    stop.clear()
    with ThreadPoolExecutor(1, "baseline") as beside:
        try:
            yield beside.submit(run_baseline_checks, context, runtime.report_progress, repeat, control.linters)
        except BaseException:
            stop.set()
            raise


def record_baseline(state: State, runtime: Runtime, running: "Future[MeasuredBaseline] | None") -> State:
    """Wait for the checks that were started, and record what they found: the next prompt shows it."""
    if running is None:
        return state
    with runtime.report_check(CheckScope.BASELINE):
        baseline, blocks = wait_for_baseline(runtime, running)
    runtime.workspace.restore(state.workspace.snapshot)
    events: list[Event] = [BaselineMeasured(baseline)]
    if state.task.checks and (stop := find_baseline_blocker(state.task, baseline)):
        events += [ask_about_checks(stop), TaskEnded(TaskStatus.BLOCKED, stop)]
    return append_events(state, runtime, events, blocks)


def wait_for_baseline(runtime: Runtime, running: "Future[MeasuredBaseline]") -> MeasuredBaseline:
    while True:
        try:
            return running.result(POLL_SECONDS)
        except StillRunning:
            runtime.check_cancelled()


def measure_baseline(state: State, runtime: Runtime) -> State:
    with start_baseline(state, runtime) as running:
        return record_baseline(state, runtime, running)
