"""Between two steps: go on as before, take another way, or ask a person. Decided from the state, so a crash changes nothing."""

from afresh.domain.event import Asked, Ended, Event, Turned
from afresh.domain.state import State
from afresh.domain.strategy import PLAN_EXECUTE, outdated
from afresh.domain.task import Status
from afresh.domain.template import Template
from afresh.engine.agent import Agent
from afresh.engine.phase import Stage, stage
from afresh.engine.questions import no_plan, phase_spent, turned_enough
from afresh.engine.record import record
from afresh.engine.strategy import directed, loop_of
from afresh.engine.strategy.plan_execute import planned_late, turn_due


def steer(state: State, agent: Agent) -> State:
    if state.pending or state.status is not Status.RUNNING:
        return state
    events = course(state, agent.template)
    return record(state, agent, events) if events else state


def course(state: State, template: Template) -> list[Event]:
    """Pure: nothing while it goes well."""
    stop = stopped(state, template)
    why = turn_due(state, template.pace) if loop_of(state, template) == PLAN_EXECUTE else ""
    if why and state.loop.turns >= template.pace.replans:
        stop = turned_enough(state, why)
    if stop:
        return [stop, Ended(Status.BLOCKED, stop.question)]
    return [Turned(state.step, PLAN_EXECUTE, why)] if why else []


def stopped(state: State, template: Template) -> Asked | None:
    """The budget of a phase, or of a plan that is not made, is used up, and so is every grace."""
    layout, pace = template.at(state.phase), template.pace
    planning = loop_of(state, template) == PLAN_EXECUTE and outdated(state.loop, state.plan, state.planned)
    if planning:
        late = planned_late(state, layout, pace)
        return no_plan(state) if pace.grace and late >= pace.grace else None
    spent = stage(state, directed(state, template), pace) is Stage.SPENT
    return phase_spent(state, layout.phase) if spent else None
