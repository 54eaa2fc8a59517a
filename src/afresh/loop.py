"""The main loop. Start reading here.

The loop holds no history: every step is rebuilt from the store, so that a window is bounded by construction and
a crash loses at most the step it was in. Two commits a step: the reply before it is acted on, the outcome after. A change of
the ceiling, a compaction of memory and a provider's count of a window are commits of their own before them.
"""

from afresh.actions.execute import execute_actions
from afresh.actions.observe import digest_step
from afresh.context.budget import needs_larger_ceiling, raise_ceiling, settings_for_call, update_ceiling
from afresh.context.build_prompt import build_best_prompt, select_offered_tools
from afresh.context.calibration import adopt_project_calibration, check_reported_usage, provider_count
from afresh.context.compaction.compact_memory import compact_memory
from afresh.context.gather import gather_context
from afresh.context.rebuild_call import audit_call
from afresh.context.sources.lessons import detect_used_lessons, record_consultation
from afresh.core.event import ActionsExecuted, CallRequested, ReplyReceived, StepFinished, TaskClaimed, VerdictReached
from afresh.core.state import State
from afresh.core.task import TaskStatus
from afresh.errors import OverCeiling
from afresh.journal.append import append_events, report_progress
from afresh.journal.checkpoint import add_checkpoint
from afresh.models.call import call_model, make_step_booking
from afresh.policy.next_call import layout_for_next_call
from afresh.policy.replan import replan_or_ask
from afresh.policy.supervision import consult_supervisor, record_supervision_mode
from afresh.runtime import Runtime
from afresh.verification.keep_or_revert import keep_or_revert
from afresh.verification.outcome import conclude_step
from afresh.verification.prepare_task import prepare_task, record_unsandboxed
from afresh.verification.verify_step import verify_step_or_completion


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
        state = take_step(state, agent) if state.work.pending else ask_model(state, agent)
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
    step = state.work.step + 1
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
    step = state.work.step + 1
    events = [
        ActionsExecuted(step, digested.observations),
        *deeds.events,
        digested.event,
        *[VerdictReached(step, verdict) for verdict in judged.verdicts],
        *settled.events,
        StepFinished(step, end.outcome),
        *end.events,
    ]
    blocks = (*digested.blocks, *judged.blocks, *settled.blocks)
    return append_events(state, agent, [*events, *add_checkpoint(state, events, agent)], blocks)
