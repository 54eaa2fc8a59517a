"""What a person's words and acts do to the state of a task; part of `core/reducer.py`, which lists all events."""

from dataclasses import replace

from afresh.core.decision import Decision
from afresh.core.event import (
    QuestionAnswered,
)
from afresh.core.fact import (
    drop_refusal,
    mark_facts_undone,
)
from afresh.core.leave import LeaveGiven, add_grants
from afresh.core.line_region import move_regions
from afresh.core.network_access import NetworkPermission, PermissionKind
from afresh.core.state import State, TaskTimes
from afresh.core.states.ceiling_state import (
    RAISE_LIMIT_OPTION,
    LimitsOrdered,
)
from afresh.core.states.dialogue_state import ACCEPT_OPTION, DialogueState, is_agreement
from afresh.core.states.memory_state import MemoryState
from afresh.core.states.network_state import (
    ALLOW_ALWAYS_OPTION,
    ALLOW_IN_TASK_OPTION,
    MAX_REFUSED_COMMANDS,
    NetworkState,
    PermissionsChanged,
    change_permissions,
    keep_newest,
)
from afresh.core.states.progress_state import (
    ProgressState,
)
from afresh.core.states.queue_state import (
    HoldChanged,
    PlaceChanged,
)
from afresh.core.states.strategy_state import INITIAL_STRATEGY
from afresh.core.states.supervision_state import (
    APPROVE_OPTION,
    AUTONOMOUS_MODE,
    NEW_DIRECTION_QUESTION,
    PersonSpoke,
    RecoveredFromCheckpoint,
    StepsUndone,
    SupervisionModeSet,
    TurnBegan,
)
from afresh.core.states.token_state import TokenState
from afresh.core.states.verification_state import VerificationState
from afresh.core.step_history import mark_passages_undone
from afresh.core.step_record import (
    mark_step_undone,
)
from afresh.core.task import TaskStatus


def outdate_prompt(tokens: TokenState, why: str) -> TokenState:
    """Something happened that neither the text of the last prompt nor a turn shows: it can't be extended."""
    if tokens.prompt.outdated or not tokens.prompt.sections:
        return tokens
    return replace(tokens, prompt=replace(tokens.prompt, outdated=why))


def answer_question(event: QuestionAnswered, state: State, at: float) -> State:
    """Approval of a pause, or of a higher limit, adds no words; other words at a pause come before the reply that waits. Unless
    it approves a pause, an answer is a decision and starts counters anew. The first option allows what the question offers."""
    asked, supervision, words = state.dialogue, state.dialogue.supervision, state.dialogue.words
    raised = bool(asked.limit) and event.option == RAISE_LIMIT_OPTION
    approved = bool(supervision.paused) and event.option == APPROVE_OPTION
    agreed = event.option == 1 or (not event.option and is_agreement(event.text))
    if not raised:
        words = words if approved else (*words, event.text)
        overruled = bool(supervision.paused and state.work.pending) and not approved
        passed = (*supervision.passed, supervision.paused) if supervision.paused and not overruled else supervision.passed
        supervision = replace(supervision, passed=passed, paused="", overruled=overruled)
    network = answer_network_question(asked.network, event)
    answered = replace(
        state,
        task=replace(state.task, max_budget=asked.limit) if raised else state.task,
        status=TaskStatus.READY,
        times=end_waiting(state.times),
        dialogue=replace(close_question(asked), words=words, supervision=supervision, network=network),
        tokens=outdate_prompt(state.tokens, "a person said something"),
    )
    if approved:
        return answered
    memory, leave = state.memory, state.verification.leave
    step = state.work.step
    decision = Decision(event.text, "person", "", step, asked.question, 1.0, asked.options, event.option)
    decisions = (*memory.decisions, decision) if decision.answer else memory.decisions
    chosen = asked.options[event.option - 1 : event.option] if event.option else ()
    after = restart_counters(answered)
    limit = after.work.limit if asked.supervision.paused else count_limit(state)
    return replace(
        after,
        memory=replace(memory, facts=drop_refusal(memory.facts), decisions=decisions),
        work=replace(after.work, limit=limit),
        verification=replace(
            after.verification,
            leave=add_grants(leave, state.verification.offered) if agreed else leave,
            accepted=event.by if ACCEPT_OPTION in chosen else "",
        ),
    )


def answer_network_question(network: NetworkState, event: QuestionAnswered) -> NetworkState:
    """The first option opens the network for the command in this task, the second always; anything else does not."""
    if not network.offered:
        return network
    always = event.option == ALLOW_ALWAYS_OPTION
    if always or event.option == ALLOW_IN_TASK_OPTION or (not event.option and is_agreement(event.text)):
        permission = NetworkPermission(PermissionKind.COMMAND, network.offered, always)
        return replace(change_permissions(network, PermissionsChanged((permission,))), offered="")
    return replace(network, offered="", refused=keep_newest((*network.refused, network.offered), MAX_REFUSED_COMMANDS))


def close_question(dialogue: DialogueState) -> DialogueState:
    network = replace(dialogue.network, offered="")
    return replace(dialogue, question="", options=(), asked_by="", limit=0, network=network)


def restart_counters(state: State) -> State:
    """A person has said something: steps of a phase, turns and refusals are counted anew."""
    progress = ProgressState(since=state.work.step, gain=state.work.progress.gain)
    return replace(
        state,
        work=replace(state.work, phase_steps=(), strategy=INITIAL_STRATEGY, progress=progress),
        verification=replace(state.verification, refusals=0, unallowed=0, offered=(), accepted=""),
    )


def end_waiting(times: TaskTimes) -> TaskTimes:
    return replace(times, attempts=replace(times.attempts, streak=0, retry_at=0.0))


def count_limit(state: State) -> int:
    return max(state.work.limit, state.work.step + state.task.max_steps)


def hear_person(event: PersonSpoke, state: State, at: float) -> State:
    """A new direction replaces the plan, and is a decision."""
    state, memory = restart_counters(state), state.memory
    supervision = replace(state.dialogue.supervision, overruled=state.work.pending is not None)
    if event.redirects:
        step, asked = state.work.step, NEW_DIRECTION_QUESTION
        decision = Decision(event.text, "person", step=step, subject=asked, confidence=1.0)
        memory = replace(memory, decisions=(*memory.decisions, decision))
        state = replace(state, work=replace(state.work, plan=(), plan_step=0), memory=memory)
    return replace(
        state,
        dialogue=replace(state.dialogue, words=(*state.dialogue.words, event.text), supervision=supervision),
        tokens=outdate_prompt(state.tokens, "a person said something"),
    )


def begin_turn(event: TurnBegan, state: State, at: float) -> State:
    limit, turn, after = count_limit(state), state.dialogue.turn + 1, restart_counters(state)
    return replace(
        after,
        status=TaskStatus.READY,
        times=end_waiting(state.times),
        work=replace(after.work, plan=(), plan_step=0, limit=limit),
        dialogue=replace(close_question(state.dialogue), turn=turn, turn_step=state.work.step),
    )


def undo_steps(event: StepsUndone, state: State, at: float) -> State:
    """What was seen of the tree as it was then is gone, what was noted is marked."""
    memory, workspace, known, after = state.memory, state.workspace, state.verification, restart_counters(state)
    over = (TaskStatus.BLOCKED, TaskStatus.DONE, TaskStatus.FAILED)
    supervision = replace(state.dialogue.supervision, overruled=state.work.pending is not None, paused="")
    return replace(
        after,
        status=TaskStatus.READY if state.status in over else state.status,
        workspace=replace(
            workspace,
            snapshot=event.snapshot,
            changed=event.changed,
            commit="",
            last_change=state.work.step,
            kept=max(0, workspace.kept - event.changes),
            reverted=workspace.reverted + event.changes,
            tried=False,
        ),
        verification=replace(
            VerificationState(known.baseline, leave=known.leave, reviews=known.reviews, baseline_step=known.baseline_step),
            flaky=known.flaky,
            run_whole=known.run_whole,
        ),
        work=replace(after.work, plan=event.plan, plan_step=event.planned),
        memory=replace(
            memory,
            facts=mark_facts_undone(memory.facts, event.step),
            passages=mark_passages_undone(memory.passages, event.step),
            regions=move_regions(memory.regions, event.hunks, state.work.step),
            recent=tuple([mark_step_undone(step, event) if step.step >= event.step else step for step in memory.recent]),
        ),
        dialogue=replace(close_question(state.dialogue), supervision=supervision),
        tokens=outdate_prompt(state.tokens, "steps were undone"),
    )


def recover_memory(event: RecoveredFromCheckpoint, state: State, at: float) -> State:
    """As at the checkpoint, but for what persons have decided since, and lessons."""
    before, work, known = state.memory, state.work, {*event.decisions}
    since = [decision for decision in before.decisions if decision.by == "person" and decision not in known]
    memory = MemoryState(
        facts=event.facts,
        decisions=(*event.decisions, *since),
        regions=event.regions,
        index=event.index,
        archived=event.archived,
        forgotten=before.forgotten + len(before.passages),
        summary=event.summary,
        compactions=before.compactions,
        lessons=before.lessons,
    )
    work = replace(work, limit=work.limit + event.left_step - event.step, returned_reply=None)
    return replace(state, memory=memory, work=work, tokens=outdate_prompt(state.tokens, "steps were undone"))


def set_supervision_mode(event: SupervisionModeSet, state: State, at: float) -> State:
    supervision = state.dialogue.supervision
    paused = "" if event.mode == AUTONOMOUS_MODE else supervision.paused
    return replace(state, dialogue=replace(state.dialogue, supervision=replace(supervision, mode=event.mode, paused=paused)))


def order_limits(event: LimitsOrdered, state: State, at: float) -> State:
    task = replace(state.task, budget=event.budget, max_budget=event.max_budget)
    tokens = replace(state.tokens, ceiling=replace(state.tokens.ceiling, budget=0))
    state = replace(state, task=task, tokens=tokens)
    return replace(state, status=TaskStatus.READY, dialogue=close_question(state.dialogue)) if event.resumes else state


def give_leave(event: LeaveGiven, state: State, at: float) -> State:
    leave = add_grants(state.verification.leave, event.changes)
    return replace(state, verification=replace(state.verification, leave=leave))


def allow_network(event: PermissionsChanged, state: State, at: float) -> State:
    return replace(state, dialogue=replace(state.dialogue, network=change_permissions(state.dialogue.network, event)))


def change_place(event: PlaceChanged, state: State, at: float) -> State:
    changes = {"priority": event.priority, "labels": event.labels, "due": event.due, "project": event.project}
    place = replace(state.place, needs=event.needs, **{name: new for name, new in changes.items() if new is not None})
    return replace(state, work=replace(state.work, place=place))


def change_hold(event: HoldChanged, state: State, at: float) -> State:
    work = replace(state.work, place=replace(state.place, hold=event.hold))
    return replace(state, worker="" if event.hold else state.worker, work=work)
