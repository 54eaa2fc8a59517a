"""The main loop. Start reading here.

The loop holds no history: every step is rebuilt from the store, so that a prompt is bounded by construction and
a crash loses at most the step it was in. Two commits a step: the reply before it is acted on, the outcome after. A change of
the ceiling, a compaction of memory and a provider's count of a prompt are commits of their own before them,
and what a reviewer says of changed tests is one between them.
"""

from afresh.actions.digest_outputs import digest_step
from afresh.actions.execute import execute_actions
from afresh.context.prepare_call import prepare_call
from afresh.context.record_call import record_call
from afresh.core.state import State
from afresh.models.call import call_model, make_step_booking
from afresh.policy.human_supervision import replan_or_pause
from afresh.runtime import Runtime
from afresh.verification.conclude_step import conclude_step, end_if_accepted, record_step
from afresh.verification.keep_or_revert import keep_or_revert
from afresh.verification.start_or_resume_task import (
    measure_baseline,
    needs_baseline,
    prepare_task,
    record_baseline,
    start_baseline,
)
from afresh.verification.verify_step import verify_step_or_completion


def advance_task(task: str, worker: str, runtime: Runtime, at_most: int | None = None) -> State:
    """Take a task this many steps further, or until it rests. The first thing done is what a crash may have left undone."""
    state, taken = prepare_task(runtime.store.load(task), worker, runtime), 0
    while (state := end_if_accepted(replan_or_pause(state, worker, runtime), runtime)).is_running and taken != at_most:
        if needs_baseline(state) and not (state := measure_baseline(state, runtime)).is_running:
            break
        if state.work.pending:
            state, taken = take_step(state, runtime), taken + 1
        else:
            state = ask_model(state, runtime)
    return state


def ask_model(state: State, runtime: Runtime) -> State:
    """Prepare, call, record. The reply is on disk before anything is done with it: it is paid once. The checks run beside the
    first call."""
    state, call = prepare_call(state, runtime)
    with start_baseline(state, runtime) as baseline:
        reply = call_model(call.prompt.request, make_step_booking(call.prompt, state, runtime.model.name), runtime.gate)
        return record_baseline(record_call(state, call, reply, runtime), runtime, baseline)


def take_step(state: State, runtime: Runtime) -> State:
    """Act, digest, verify, keep or revert, record. Each line adds to the step; nothing flows back except through the store."""
    step = execute_actions(state, runtime)
    step = digest_step(state, step)
    state, step = verify_step_or_completion(state, step, runtime)
    step = keep_or_revert(state, step, runtime)
    step = conclude_step(state, step, runtime)
    return record_step(state, step, runtime)
