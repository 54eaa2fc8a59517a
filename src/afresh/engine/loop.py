"""The main loop. Start reading here.

The loop holds no history: every step is rebuilt from the store, so that a window is bounded by construction and
a crash loses at most the step it was in. Two commits a step: the reply before it is acted on, the outcome after. A change of
the ceiling, a compaction of memory and a provider's count of a window are commits of their own before them.
"""

from afresh.domain.event import ActionsExecuted, TaskClaimed, StepFinished, ReplyReceived, CallRequested, VerdictReached
from afresh.domain.state import State
from afresh.domain.task import TaskStatus
from afresh.engine.act import execute_actions
from afresh.engine.agent import Runtime
from afresh.engine.attend import consult_supervisor, record_supervision_mode
from afresh.engine.audit import audit_call
from afresh.engine.budget import update_ceiling, settings_for_call, raise_ceiling, needs_larger_ceiling
from afresh.engine.build import build_best_prompt, select_offered_tools
from afresh.engine.buy import call_model, make_step_booking
from afresh.engine.calibrate import adopt_project_calibration, check_reported_usage
from afresh.engine.checkpoint import add_checkpoint
from afresh.engine.compaction.memory import compact_memory
from afresh.engine.consult import record_consultation, detect_used_lessons
from afresh.engine.digest import digest_step
from afresh.engine.finish import conclude_step
from afresh.engine.judge import verify_step_or_completion
from afresh.engine.prepare import prepare_task, record_unsandboxed
from afresh.engine.recall import gather_context
from afresh.engine.record import report_progress, append_events
from afresh.engine.settle import keep_or_revert
from afresh.engine.steer import replan_or_ask
from afresh.engine.strategy import layout_for_next_call
from afresh.engine.weigh import provider_count
from afresh.errors import OverCeiling


def work_on_task(task: str, worker: str, agent: Runtime) -> State:
    """Take a task as far as it will go. The first thing done is what a crash may have left undone."""
    state = agent.store.load(task)
    state = append_events(
        state,
        agent,
        [
            TaskClaimed(worker),
            *record_supervision_mode(state, agent),
            *record_unsandboxed(state, agent),
            *adopt_project_calibration(state, agent),
        ],
    )
    state = prepare_task(state, agent)
    while (state := consult_supervisor(replan_or_ask(state, agent), worker, agent)).status is TaskStatus.RUNNING:
        state = take_step(state, agent) if state.pending else ask_model(state, agent)
    return state


def ask_model(state: State, agent: Runtime) -> State:
    """Recall, build, propose. The reply is on disk before anything is done with it: it is paid once."""
    state = compact_memory(update_ceiling(state, agent), agent)
    tuned = settings_for_call(state, agent)
    tools = select_offered_tools(layout_for_next_call(state, tuned.template), tuned.tools)
    try:
        memory = gather_context(state, tuned)
        window = needs_larger_ceiling(build_best_prompt(memory, tuned.template, tools, state.budget, tuned.counter), state, agent)
    except OverCeiling as fault:
        return ask_model(raise_ceiling(state, agent, fault), agent)
    if count := provider_count(window, state, tuned):
        state = append_events(state, agent, [count])
        if count.over:
            return ask_model(state, agent)
    report_progress(agent, f"waiting for {agent.model.name}")
    reply = call_model(window.request, make_step_booking(window, state, agent.model.name), agent.till)
    call, blocks = audit_call(window, memory, tuned)
    step = state.step + 1
    asked, used = record_consultation(state, memory, agent), detect_used_lessons(step, memory, window, reply)
    return append_events(
        state,
        agent,
        [*asked, CallRequested(step, call), ReplyReceived(step, reply), *check_reported_usage(step, call, reply), *used],
        blocks,
    )


def take_step(state: State, agent: Runtime) -> State:
    """Act, digest, verify, settle, record. Each line feeds the next; nothing flows back except through the store."""
    deeds = execute_actions(state, agent)
    digested = digest_step(state, deeds)
    judged = verify_step_or_completion(state, deeds, agent)
    settled = keep_or_revert(state, deeds, judged, agent)
    end = conclude_step(state, deeds, judged, settled, agent)
    step = state.step + 1
    events = [
        ActionsExecuted(step, digested.observations), *deeds.events, digested.event,
        *[VerdictReached(step, verdict) for verdict in judged.verdicts], *settled.events, StepFinished(step, end.outcome), *end.events,
    ]  # fmt: skip
    blocks = (*digested.blocks, *judged.blocks, *settled.blocks)
    return append_events(state, agent, [*events, *add_checkpoint(state, events, agent)], blocks)
