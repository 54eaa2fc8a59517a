"""Before the first step, and before every step after a crash: a sound tree, and the baseline."""

from afresh.domain.event import Baselined, Decided, Ended, Event
from afresh.domain.fact import UNCONFINED, Decision
from afresh.domain.state import State
from afresh.domain.task import Status
from afresh.engine.agent import Agent
from afresh.engine.questions import told_to_go_on, unsound_checks
from afresh.engine.record import doing, record
from afresh.engine.verify import blocker, take_baseline


def waived(state: State, agent: Agent) -> list[Event]:
    """That the user has waived the sandbox is recorded each time that somebody takes up the task."""
    return [Decided(Decision(UNCONFINED, "person", step=state.step))] if agent.sandbox.level == "none" else []


def prepare(state: State, agent: Agent) -> State:
    doing(agent, "opening a worktree")
    opened = agent.workspace.open()
    if not state.opened:
        state = record(state, agent, [opened])
    agent.workspace.restore(state.snapshot)
    return state if sound(state) else measure_baseline(state, agent)


def sound(state: State) -> bool:
    """A baseline that can judge nothing is taken again when a person has answered, unless the answer is to go on without."""
    if state.baseline is None or state.calls or not state.task.checks:
        return state.baseline is not None
    return not blocker(state.task, state.baseline) or told_to_go_on(state.decisions)


def measure_baseline(state: State, agent: Agent) -> State:
    doing(agent, "running the checks twice, before anything is changed")
    baseline, blocks = take_baseline(agent.bench(state))
    agent.workspace.restore(state.snapshot)
    events: list[Event] = [Baselined(baseline)]
    if state.task.checks and (stop := blocker(state.task, baseline)):
        events += [unsound_checks(stop), Ended(Status.BLOCKED, stop)]
    return record(state, agent, events, blocks)
