"""A person beside the work is asked before it goes on: at every change of phase, or after every step.

What they are asked and what they say is in the journal before anything follows from it, so a pause outlives the process.
"""

from afresh.domain.attended import APPROVED, AUTONOMOUS, INTERACTIVE, Act, Word
from afresh.domain.event import Answered, Attended, Claimed, Ended, Event, Paused, Spoke
from afresh.domain.state import State
from afresh.domain.task import Status
from afresh.engine.agent import Agent
from afresh.engine.questions import before_phase, halted
from afresh.engine.record import record
from afresh.engine.undo import undoing
from afresh.errors import BadInput

WRITING = ("edit", "write", "apply", "delegate")
GATES = ("change", "verify", "report")


def attended(state: State, agent: Agent) -> list[Event]:
    """Recorded, so that whoever goes on with the task follows it as closely."""
    return [Attended(agent.mode)] if agent.mode and agent.mode != (state.attendance.mode or AUTONOMOUS) else []


def attend(state: State, worker: str, agent: Agent) -> State:
    mode = state.attendance.mode or AUTONOMOUS
    if mode == AUTONOMOUS:
        return state
    if state.status is Status.BLOCKED:
        return questioned(state, worker, agent) if agent.person and state.question and state.calls else state
    if state.status is not Status.RUNNING:
        return state
    if mode == INTERACTIVE and agent.person:
        return accompanied(state, agent)
    return supervised(state, worker, agent)


def supervised(state: State, worker: str, agent: Agent) -> State:
    """Each phase that changes something, or claims to be at the end, is entered with a person's consent, once."""
    if not state.attendance.paused:
        if not (phase := entering(state)):
            return state
        state = record(state, agent, [before_phase(state, phase), Paused(state.step, phase)])
    return questioned(state, worker, agent)


def entering(state: State) -> str:
    """The phase that is about to begin without consent: with the reply that waits to be acted on, or since the last step."""
    begins = state.phase
    if state.pending:
        writes = any(action.tool in WRITING for action in state.pending.reply.actions) and not state.attendance.overruled
        begins = ("report" if state.task.report else "change") if writes and begins == "understand" else ""
    return begins if begins in GATES and begins not in state.attendance.passed else ""


def questioned(state: State, worker: str, agent: Agent) -> State:
    """The open question is put to whoever is there; with nobody there it waits, for hours and on any machine. An undoing that is
    not possible is no answer: it is put again."""
    word = agent.person.at_pause(state) if agent.person else None
    while word and word.act is Act.UNDO and agent.person:
        if (after := undone(word, state, agent, Claimed(worker))) is not state:
            return after
        word = agent.person.at_pause(state)
    if word is None or word.act is Act.STOP:
        working = state.status is Status.RUNNING
        return record(state, agent, [Ended(Status.BLOCKED, f"waits for you: {state.question}")]) if working else state
    redirects = [Spoke(word.text, word.by, redirects=True)] if word.act is Act.REDIRECT else []
    return record(state, agent, [answer(word, state), *redirects, Claimed(worker)])


def answer(word: Word, state: State) -> Answered:
    """The first option of the harness lets it go on; what a model asks takes an answer of its own."""
    if word.act is Act.GO and state.options and state.asked_by == "harness":
        return Answered(state.options[0], word.by, APPROVED)
    return Answered(word.text or "go on", word.by, word.option)


def accompanied(state: State, agent: Agent) -> State:
    """Between two steps a person may say something, take back a step, or stop; then it goes on."""
    while agent.person and not state.pending:
        word = agent.person.at_pause(state)
        if word is None or word.act is Act.STOP:
            stop = halted(state)
            return record(state, agent, [stop, Ended(Status.BLOCKED, stop.question)])
        if word.act is not Act.UNDO:
            said = [Spoke(word.text, word.by, redirects=word.act is Act.REDIRECT)] if word.act is not Act.GO else []
            return record(state, agent, said) if said else state
        state = undone(word, state, agent)
    return state


def undone(word: Word, state: State, agent: Agent, *then: Event) -> State:
    """On record first: a tree that was not put back in time is put back when the task is taken up again."""
    try:
        state = record(state, agent, [*undoing(state, agent.store, agent.workspace, word), *then])
    except BadInput as fault:
        agent.told(str(fault))
        return state
    agent.workspace.restore(state.snapshot)
    return state
