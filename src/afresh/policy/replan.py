"""Between two steps: go on as before, take another way, or ask a person. Decided from the state, so a crash changes nothing."""

from afresh.core.event import Event, QuestionAsked, TaskEnded
from afresh.core.state import State
from afresh.core.states.strategy_state import PLAN_EXECUTE_STRATEGY, StrategyChanged, is_plan_outdated
from afresh.core.task import TaskStatus
from afresh.core.template import Template
from afresh.journal.append import append_events
from afresh.policy.next_call import choose_strategy, layout_for_next_call
from afresh.policy.phase_limits import PhasePressure, phase_pressure_from_state
from afresh.policy.questions import ask_after_phase_limit, ask_after_replans, ask_for_missing_plan, offer_acceptance
from afresh.policy.strategies.plan_execute import count_steps_over_plan_limit, find_reason_to_replan
from afresh.runtime import Runtime


def replan_or_ask(state: State, runtime: Runtime) -> State:
    if state.work.pending or state.status is not TaskStatus.RUNNING:
        return state
    events = decide_replan(state, runtime.settings.template)
    return append_events(state, runtime, events) if events else state


def decide_replan(state: State, template: Template) -> list[Event]:
    """Pure: nothing while it goes well."""
    stop = ask_if_exhausted(state, template)
    why = find_reason_to_replan(state, template.pace) if choose_strategy(state, template) == PLAN_EXECUTE_STRATEGY else ""
    if why and state.work.strategy.turns >= template.pace.replans:
        stop = ask_after_replans(state, why)
    if stop:
        return [offer_acceptance(stop, state), TaskEnded(TaskStatus.BLOCKED, stop.question)]
    return [StrategyChanged(state.work.step, PLAN_EXECUTE_STRATEGY, why)] if why else []


def ask_if_exhausted(state: State, template: Template) -> QuestionAsked | None:
    """The budget of a phase, or of a plan that is not made, is used up, and so is every grace."""
    layout, pace = template.at(state.phase), template.pace
    planning = choose_strategy(state, template) == PLAN_EXECUTE_STRATEGY and is_plan_outdated(
        state.work.strategy, state.work.plan, state.work.plan_step
    )
    if planning:
        late = count_steps_over_plan_limit(state, layout, pace)
        return ask_for_missing_plan(state) if pace.grace and late >= pace.grace else None
    spent = phase_pressure_from_state(state, layout_for_next_call(state, template), pace) is PhasePressure.SPENT
    return ask_after_phase_limit(state, layout.phase) if spent else None
