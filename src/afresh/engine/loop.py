"""The main loop. Start reading here.

The loop holds no history: every step is rebuilt from the store, so that a window is bounded by construction and
a crash loses at most the step it was in. Two commits a step: the reply before it is acted on, the outcome after. A change of
the ceiling, a compaction of memory and a provider's count of a window are commits of their own before them.
"""

from afresh.domain.event import Acted, Claimed, Finished, Replied, Requested, Verified
from afresh.domain.state import State
from afresh.domain.task import Status
from afresh.engine.act import act
from afresh.engine.agent import Agent
from afresh.engine.attend import attend, attended
from afresh.engine.audit import audit
from afresh.engine.budget import afford, attuned, enlarged, uncramped
from afresh.engine.build import build, offered
from afresh.engine.buy import buy, purchase
from afresh.engine.calibrate import calibrated, weighed
from afresh.engine.checkpoint import checkpointed
from afresh.engine.compaction.memory import compacted
from afresh.engine.consult import consulted, referred
from afresh.engine.digest import digest
from afresh.engine.finish import finish
from afresh.engine.judge import judge
from afresh.engine.prepare import prepare, waived
from afresh.engine.recall import recall
from afresh.engine.record import doing, record
from afresh.engine.settle import settle
from afresh.engine.steer import steer
from afresh.engine.strategy import directed
from afresh.engine.weigh import counted
from afresh.errors import OverCeiling


def work_on(task: str, worker: str, agent: Agent) -> State:
    """Take a task as far as it will go. The first thing done is what a crash may have left undone."""
    state = agent.store.load(task)
    state = record(state, agent, [Claimed(worker), *attended(state, agent), *waived(state, agent), *calibrated(state, agent)])
    state = prepare(state, agent)
    while (state := attend(steer(state, agent), worker, agent)).status is Status.RUNNING:
        state = take_step(state, agent) if state.pending else ask_model(state, agent)
    return state


def ask_model(state: State, agent: Agent) -> State:
    """Recall, build, propose. The reply is on disk before anything is done with it: it is paid once."""
    state = compacted(afford(state, agent), agent)
    tuned = attuned(state, agent)
    tools = offered(directed(state, tuned.template), tuned.tools)
    try:
        memory = recall(state, tuned)
        window = uncramped(build(memory, tuned.template, tools, state.budget, tuned.counter), state, agent)
    except OverCeiling as fault:
        return ask_model(enlarged(state, agent, fault), agent)
    if count := counted(window, state, tuned):
        state = record(state, agent, [count])
        if count.over:
            return ask_model(state, agent)
    doing(agent, f"waiting for {agent.model.name}")
    reply = buy(window.request, purchase(window, state, agent.model.name), agent.till)
    call, blocks = audit(window, memory, tuned)
    step = state.step + 1
    asked, used = consulted(state, memory, agent), referred(step, memory, window, reply)
    return record(state, agent, [*asked, Requested(step, call), Replied(step, reply), *weighed(step, call, reply), *used], blocks)


def take_step(state: State, agent: Agent) -> State:
    """Act, digest, verify, settle, record. Each line feeds the next; nothing flows back except through the store."""
    deeds = act(state, agent)
    digested = digest(state, deeds)
    judged = judge(state, deeds, agent)
    settled = settle(state, deeds, judged, agent)
    end = finish(state, deeds, judged, settled, agent)
    step = state.step + 1
    events = [
        Acted(step, digested.observations), *deeds.events, digested.event,
        *[Verified(step, verdict) for verdict in judged.verdicts], *settled.events, Finished(step, end.outcome), *end.events,
    ]  # fmt: skip
    blocks = (*digested.blocks, *judged.blocks, *settled.blocks)
    return record(state, agent, [*events, *checkpointed(state, events, agent)], blocks)
