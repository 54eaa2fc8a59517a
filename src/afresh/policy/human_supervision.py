"""A person beside the work is asked before it goes on: at every change of phase, or after every step.

What they are asked and what they say is in the journal before anything follows from it, so a pause outlives the process.
"""

from collections.abc import Sequence

from afresh.core.action import Action
from afresh.core.event import Event, QuestionAnswered, TaskClaimed, TaskEnded
from afresh.core.progress_event import WorkNotice
from afresh.core.state import State
from afresh.core.states.supervision_state import (
    APPROVE_OPTION,
    AUTONOMOUS_MODE,
    INTERACTIVE_MODE,
    PersonAct,
    PersonRequest,
    PersonSpoke,
    SupervisionModeSet,
)
from afresh.core.task import TaskStatus
from afresh.core.template import LOOKING_PHASES
from afresh.core.tool_traits import ToolTrait, has_trait
from afresh.errors import BadInput
from afresh.journal.append import append_events
from afresh.journal.undo import undo_steps
from afresh.policy.questions import ask_after_stop, ask_before_phase
from afresh.policy.replan import replan_or_ask
from afresh.runtime import Runtime

TO_APPROVE = (ToolTrait.WRITES, ToolTrait.DELEGATES)
"""A command is not approved beforehand: whether it changes something is seen after it."""
PHASES_TO_APPROVE = ("change", "verify", "report", "synthesise")


def record_supervision_mode(state: State, runtime: Runtime) -> list[Event]:
    """Recorded, so that whoever goes on with the task follows it as closely."""
    return (
        [SupervisionModeSet(runtime.settings.mode)]
        if runtime.settings.mode and runtime.settings.mode != (state.dialogue.supervision.mode or AUTONOMOUS_MODE)
        else []
    )


def replan_or_pause(state: State, worker: str, runtime: Runtime) -> State:
    """Between two steps: make a new plan, or pause for a person."""
    return consult_supervisor(replan_or_ask(state, runtime), worker, runtime)


def consult_supervisor(state: State, worker: str, runtime: Runtime) -> State:
    """A question is put to whoever is there, in every mode; pauses are for those who asked for them."""
    mode = state.dialogue.supervision.mode or AUTONOMOUS_MODE
    if state.status is TaskStatus.BLOCKED:
        return (
            put_open_question(state, worker, runtime)
            if runtime.control.person and state.dialogue.question and state.spending.calls
            else state
        )
    if state.status is not TaskStatus.RUNNING or mode == AUTONOMOUS_MODE:
        return state
    if mode == INTERACTIVE_MODE and runtime.control.person:
        return pause_after_step(state, runtime)
    return pause_before_phase(state, worker, runtime)


def pause_before_phase(state: State, worker: str, runtime: Runtime) -> State:
    """Each phase that changes something, or claims to be at the end, is entered with a person's consent, once. A reply may enter
    two."""
    if not state.dialogue.supervision.paused:
        if not (phase := find_phase_to_approve(state)):
            return state
        state = append_events(state, runtime, [ask_before_phase(state, phase)])
    state = put_open_question(state, worker, runtime)
    return pause_before_phase(state, worker, runtime) if state.is_running and state.work.pending else state


def find_phase_to_approve(state: State) -> str:
    """The phase that is about to begin without consent: with the reply that waits to be acted on, or since the last step."""
    begins = find_phases_of_reply(state, state.work.pending.reply.actions) if state.work.pending else [state.phase]
    passed = state.dialogue.supervision.passed
    return next((phase for phase in begins if phase in PHASES_TO_APPROVE and phase not in passed), "")


def find_phases_of_reply(state: State, actions: Sequence[Action]) -> list[str]:
    """What a reply begins: the first change, and the end that it claims. A reply that a person spoke over begins nothing."""
    if state.dialogue.supervision.overruled:
        return []
    writes = state.phase in LOOKING_PHASES and any(has_trait(action, *TO_APPROVE) for action in actions)
    first = [state.writing_phase] if writes else []
    return [*first, *["verify" for action in actions if has_trait(action, ToolTrait.COMPLETES)]]


def put_open_question(state: State, worker: str, runtime: Runtime) -> State:
    """The open question is put to whoever is there; with nobody there it waits, for hours and on any machine. An undoing that is
    not possible is no answer: it is put again."""
    word = runtime.control.person.at_pause(state) if runtime.control.person else None
    while word and word.act is PersonAct.UNDO and runtime.control.person:
        if (after := undo_for_supervisor(word, state, runtime, TaskClaimed(worker))) is not state:
            return after
        word = runtime.control.person.at_pause(state)
    if word is None or word.act is PersonAct.STOP:
        working = state.status is TaskStatus.RUNNING
        return (
            append_events(state, runtime, [TaskEnded(TaskStatus.BLOCKED, f"waits for you: {state.dialogue.question}")])
            if working
            else state
        )
    redirects = [PersonSpoke(word.text, word.by, redirects=True)] if word.act is PersonAct.REDIRECT else []
    return append_events(state, runtime, [answer_from_word(word, state), *redirects, TaskClaimed(worker)])


def answer_from_word(word: PersonRequest, state: State) -> QuestionAnswered:
    """The first option of the harness lets it go on; what a model asks, or wants of the network, takes an answer of its own."""
    goes_on = state.dialogue.options and state.dialogue.asked_by == "harness" and not state.dialogue.network.offered
    if word.act is PersonAct.GO and goes_on:
        return QuestionAnswered(state.dialogue.options[0], word.by, APPROVE_OPTION)
    return QuestionAnswered(word.text or "go on", word.by, word.option)


def pause_after_step(state: State, runtime: Runtime) -> State:
    """Between two steps a person may say something, take back a step, or stop; then it goes on."""
    while runtime.control.person and not state.work.pending:
        word = runtime.control.person.at_pause(state)
        if word is None or word.act is PersonAct.STOP:
            stop = ask_after_stop(state)
            return append_events(state, runtime, [stop, TaskEnded(TaskStatus.BLOCKED, stop.question)])
        if word.act is not PersonAct.UNDO:
            spokes = (
                [PersonSpoke(word.text, word.by, redirects=word.act is PersonAct.REDIRECT)]
                if word.act is not PersonAct.GO
                else []
            )
            return append_events(state, runtime, spokes) if spokes else state
        state = undo_for_supervisor(word, state, runtime)
    return state


def undo_for_supervisor(word: PersonRequest, state: State, runtime: Runtime, *then: Event) -> State:
    """On record first: a tree that was not put back in time is put back when the task is taken up again."""
    try:
        state = append_events(state, runtime, [*undo_steps(state, runtime.store, runtime.workspace, word), *then])
    except BadInput as fault:
        runtime.report_progress(WorkNotice(str(fault)))
        return state
    runtime.workspace.restore(state.workspace.snapshot)
    return state
