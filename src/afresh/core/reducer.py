"""State is fold(entries). Nothing else changes a state."""

from collections.abc import Iterable
from dataclasses import replace
from functools import singledispatch
from typing import Any

from afresh.core import ceiling_reducer, progress_state, supervision_reducer
from afresh.core import event as happened
from afresh.core.decision import add_decision
from afresh.core.event import Event, JournalEntry, JournalHead, is_in_decision_log
from afresh.core.fact import Fact, FactKind, drop_observations_of_step, drop_passed_tests, is_sure_observation
from afresh.core.lesson import LessonEvent, apply_lesson_event
from afresh.core.region import MAX_REGIONS, add_region, move_regions
from afresh.core.reply import Reply, make_returned_reply
from afresh.core.state import PendingReply, State, StepRecord, replace_fields
from afresh.core.step_history import ENDED_OK, Passage, PassageVoice, bound_passages, set_action_ending
from afresh.core.supervision_reducer import NO_OPEN_QUESTION
from afresh.core.task import TaskStatus
from afresh.core.verdict import Ruling

FACT_KIND_DROP_ORDER = {FactKind.OBSERVED: 0, FactKind.NOTE: 1}
_CHECKPOINT_CLOCK_EVENTS = happened.TaskClaimed, happened.CheckpointWritten
MAX_RECENT_STEPS = 6
MAX_FACTS = 40
MAX_INDEX_LINES = 40


def fold_entries(state: State | None, entries: Iterable[JournalEntry]) -> State:
    last: JournalEntry | None = None
    lines = 0
    for entry in entries:
        if state is None:
            assert isinstance(entry.event, happened.TaskCreated), "a journal begins with Created"
            state = State(task=entry.event.task, started=entry.at, limit=entry.event.task.max_steps)
        state, last, lines = apply_event(entry.event, state), entry, lines + is_in_decision_log(entry.event)
        if isinstance(entry.event, _CHECKPOINT_CLOCK_EVENTS):
            state = _set_checkpoint_clock(entry.event, entry.at, state)
    assert state is not None, "a journal is never empty"
    if last is None:
        return state
    return replace_fields(state, head=JournalHead(last.seq, last.hash), updated=last.at, logged=state.logged + lines)


def _set_checkpoint_clock(event: happened.TaskClaimed | happened.CheckpointWritten, at: float, state: State) -> State:
    """The clock of checkpoints starts with the first claim, so that it runs on through a crash."""
    if isinstance(event, happened.CheckpointWritten):
        return replace_fields(state, checkpointed=at, checkpoint_step=event.step)
    return state if state.checkpointed else replace_fields(state, checkpointed=at)


@singledispatch
def apply_event(event: Event, state: State) -> State:
    """Created carries nothing beyond the task that `fold` has taken from it."""
    return state


@apply_event.register
def _(event: happened.TaskClaimed, state: State) -> State:
    return replace_fields(state, status=TaskStatus.RUNNING, worker=event.worker)


@apply_event.register
def _(event: happened.WorkspaceOpened, state: State) -> State:
    return replace_fields(
        state, base=event.base, branch=event.branch, opened=event.snapshot, snapshot=event.snapshot, note=event.note
    )


@apply_event.register
def _(event: happened.BaselineMeasured, state: State) -> State:
    return replace_fields(state, baseline=event.baseline)


@apply_event.register
def _(event: happened.CallRequested, state: State) -> State:
    spent = {**dict(state.spent), state.phase: state.phase_step}
    largest = max(state.largest, event.audit.tokens)
    return replace_fields(state, largest=largest, spent=tuple(spent.items()), **ceiling_reducer.apply_request(event.audit, state))


@apply_event.register
def _(event: happened.ReplyReceived, state: State) -> State:
    learnt = ceiling_reducer.apply_reply(event.reply, state)
    return replace_fields(state, pending=PendingReply(event.step, event.reply), **add_call(event.reply, state), **learnt)


@apply_event.register
def _(event: happened.ActionsExecuted, state: State) -> State:
    thought = state.pending.reply.thought if state.pending else ""
    record = StepRecord(event.step, thought, event.observations, "", True)
    back = make_returned_reply(event.step, state.pending.reply) if state.pending else None
    recent = (*state.recent, record)[-MAX_RECENT_STEPS:]
    return replace_fields(state, recent=recent, returned=back, **ceiling_reducer.apply_observations(event.observations, state))


@apply_event.register
def _(event: happened.PlanSet, state: State) -> State:
    return replace_fields(state, plan=event.items, planned=state.step + 1)


@apply_event.register
def _(event: happened.QuestionAsked, state: State) -> State:
    return replace_fields(state, question=event.question, options=event.options, asked_by=event.by)


@apply_event.register
def _(event: happened.QuestionAnswered, state: State) -> State:
    return replace_fields(state, **NO_OPEN_QUESTION, **supervision_reducer.apply_answer(event, state))


@apply_event.register
def _(event: happened.DecisionMade, state: State) -> State:
    return replace_fields(state, decisions=add_decision(state.decisions, event.decision))


@apply_event.register
def _(event: happened.OutputDigested, state: State) -> State:
    facts = state.facts
    for fact in event.facts:
        facts = supersede_fact(facts, fact)
    regions = state.regions
    for region in event.regions:
        regions = add_region(regions, region)
    again = {line.block for line in event.index}
    index = (*[line for line in state.index if line.block not in again], *event.index)[-MAX_INDEX_LINES:]
    passages = (*state.passages, *event.passages)
    held = bound_passages(passages, state.budget) if event.passages else passages
    return replace_fields(
        state,
        facts=bound_facts(facts),
        regions=regions[-MAX_REGIONS:],
        index=index,
        archived=state.archived + len(find_new_blocks(event, state)),
        passages=held,
        forgotten=state.forgotten + len(passages) - len(held),
        room=ceiling_reducer.note_reread(event.regions, state),
    )


@apply_event.register
def _(event: happened.VerdictReached, state: State) -> State:
    refused = event.verdict.final and event.verdict.ruling is not Ruling.PASS
    return replace_fields(
        state,
        verdict=event.verdict,
        verdict_step=event.step,
        refusals=state.refusals + refused,
        facts=drop_passed_tests(state.facts, event.verdict),
        passages=set_action_ending(state.passages, event.step, "refused") if refused else state.passages,
    )


@apply_event.register
def _(event: happened.ChangeKeptOrReverted, state: State) -> State:
    recent = (*state.recent[:-1], replace(state.recent[-1], kept=event.kept)) if state.recent else ()
    anew = event.kept and event.snapshot != state.snapshot
    return replace_fields(
        state,
        snapshot=event.snapshot,
        last_change=event.step if anew else state.last_change,
        changed=event.changed,
        recent=recent,
        regions=move_regions(state.regions, event.hunks, event.step)[-MAX_REGIONS:],
        facts=state.facts if event.kept else drop_observations_of_step(state.facts, event.step),
        passages=mark_passages_kept_or_reverted(event, state),
        kept=state.kept + anew,
        reverted=state.reverted + (not event.kept),
    )


@apply_event.register
def _(event: happened.StepFinished, state: State) -> State:
    recent = (*state.recent[:-1], replace(state.recent[-1], outcome=event.outcome)) if state.recent else ()
    room = ceiling_reducer.apply_step_end(event.step, state)
    after = replace_fields(state, recent=recent, **supervision_reducer.apply_supervised_step_end(state))
    return replace_fields(after, step=event.step, pending=None, outcome=event.outcome, **room)


@apply_event.register
def _(event: happened.TaskEnded, state: State) -> State:
    asked: dict[str, Any] = {} if event.status is TaskStatus.BLOCKED else NO_OPEN_QUESTION
    return replace_fields(
        state, status=event.status, outcome=event.reason, commit=event.commit or state.commit, worker="", **asked
    )


@apply_event.register
def _(event: happened.CompactionRequested, state: State) -> State:
    return replace_fields(state, keep=event.keep)


@apply_event.register
def _(event: happened.MemoryCompacted, state: State) -> State:
    gone, reply = frozenset(event.gone), event.reply
    held = tuple([passage for place, passage in enumerate(state.passages) if place not in gone])
    return replace_fields(
        state, passages=held, forgotten=state.forgotten + len(state.passages) - len(held), summary=event.summary,
        compactions=state.compactions + 1, keep="",
        course=progress_state.add_cost(state.course, reply.cost, reply.usage.tokens) if reply else state.course,
        **add_call(reply, state),
    )  # fmt: skip


@apply_event.register
def _(event: ceiling_reducer.CeilingEvent, state: State) -> State:
    return replace_fields(state, **ceiling_reducer.apply_ceiling_event(event, state))


@apply_event.register
def _(event: supervision_reducer.SupervisionEvent, state: State) -> State:
    return replace_fields(state, **supervision_reducer.apply_supervision_event(event, state))


@apply_event.register
def _(event: happened.LessonWorded, state: State) -> State:
    return replace_fields(state, **add_call(event.reply, state))


@apply_event.register
def _(event: happened.SubtaskReturned, state: State) -> State:
    return replace_fields(state, delegated=(*state.delegated, event.result))


@apply_event.register
def _(event: progress_state.StepMarked, state: State) -> State:
    return replace_fields(state, course=progress_state.apply_step_mark(state.course, event))


@apply_event.register
def _(event: progress_state.StallNoticed, state: State) -> State:
    return replace_fields(state, course=progress_state.apply_stall_notice(state.course, event))


@apply_event.register
def _(event: LessonEvent, state: State) -> State:
    return replace_fields(state, knowledge=apply_lesson_event(event, state.knowledge))


def add_call(reply: Reply | None, state: State) -> dict[str, Any]:
    """One more call, whatever it was for; nothing if there was none."""
    if reply is None:
        return {}
    bill = state.bill.plus(reply.cost, reply.usage.tokens)
    return {"calls": state.calls + 1, "usage": state.usage + reply.usage, "bill": bill}


def mark_passages_kept_or_reverted(event: happened.ChangeKeptOrReverted, state: State) -> tuple[Passage, ...]:
    """What an action changed was kept, or undone with all the others of its reply."""
    if event.kept and event.snapshot == state.snapshot:
        return state.passages
    return (
        set_action_ending(state.passages, event.step, "kept", ENDED_OK)
        if event.kept
        else set_action_ending(state.passages, event.step, "undone")
    )


def find_new_blocks(event: happened.OutputDigested, state: State) -> set[str]:
    """Outputs that can be recalled from now on, each counted once."""
    new = {line.block for line in event.index} | {one.block for one in event.passages if one.voice is PassageVoice.OUTPUT}
    return new - {line.block for line in state.index} - {one.block for one in state.passages}


def supersede_fact(facts: tuple[Fact, ...], new: Fact) -> tuple[Fact, ...]:
    others = [old for old in facts if old.subject != new.subject or old.kind is not new.kind]
    return (*others, new) if new.text or new.kind is not FactKind.OBSERVED else tuple(others)


def bound_facts(facts: tuple[Fact, ...]) -> tuple[Fact, ...]:
    """What failed is forgotten last: what outputs said goes first, of that what is not sure, then plain notes, oldest first."""
    excess = len(facts) - MAX_FACTS
    if excess <= 0:
        return facts
    first = sorted(
        facts,
        key=lambda fact: (FACT_KIND_DROP_ORDER.get(fact.kind, len(FACT_KIND_DROP_ORDER)), is_sure_observation(fact)),
    )
    gone = {id(fact) for fact in first[:excess]}
    return tuple([fact for fact in facts if id(fact) not in gone])
