"""State is fold(entries). Nothing else changes a state."""

from collections.abc import Iterable
from dataclasses import replace
from functools import singledispatch
from typing import Any

from afresh.domain import ceiling, course, guided, observed
from afresh.domain import event as happened
from afresh.domain.action import Reply
from afresh.domain.decided import decided
from afresh.domain.event import Entry, Event, Head, logged
from afresh.domain.fact import Fact, FactKind
from afresh.domain.guided import NOTHING_ASKED
from afresh.domain.lookups import Lookup, looked_up
from afresh.domain.passage import OK, Passage, Voice, ending, remembered
from afresh.domain.regions import REGIONS, moved, seen
from afresh.domain.returned import returned
from afresh.domain.state import Pending, State, StepRecord, changed
from afresh.domain.task import Status
from afresh.domain.verdict import Ruling

FORGOTTEN_FIRST = {FactKind.OBSERVED: 0, FactKind.NOTE: 1}
_TIMED = happened.Claimed, happened.Checkpointed
RECENT_STEPS = 6
FACTS = 40
INDEX_LINES = 40


def fold(state: State | None, entries: Iterable[Entry]) -> State:
    last: Entry | None = None
    lines = 0
    for entry in entries:
        if state is None:
            assert isinstance(entry.event, happened.Created), "a journal begins with Created"
            state = State(task=entry.event.task, started=entry.at, limit=entry.event.task.max_steps)
        state, last, lines = apply(entry.event, state), entry, lines + logged(entry.event)
        if isinstance(entry.event, _TIMED):
            state = _timed(entry.event, entry.at, state)
    assert state is not None, "a journal is never empty"
    if last is None:
        return state
    return changed(state, head=Head(last.seq, last.hash), updated=last.at, logged=state.logged + lines)


def _timed(event: happened.Claimed | happened.Checkpointed, at: float, state: State) -> State:
    """The clock of checkpoints starts with the first claim, so that it runs on through a crash."""
    if isinstance(event, happened.Checkpointed):
        return changed(state, checkpointed=at, checkpoint_step=event.step)
    return state if state.checkpointed else changed(state, checkpointed=at)


@singledispatch
def apply(event: Event, state: State) -> State:
    """Created carries nothing beyond the task that `fold` has taken from it."""
    return state


@apply.register
def _(event: happened.Claimed, state: State) -> State:
    return changed(state, status=Status.RUNNING, worker=event.worker)


@apply.register
def _(event: happened.Opened, state: State) -> State:
    return changed(state, base=event.base, branch=event.branch, opened=event.snapshot, snapshot=event.snapshot, note=event.note)


@apply.register
def _(event: happened.Baselined, state: State) -> State:
    return changed(state, baseline=event.baseline)


@apply.register
def _(event: happened.Requested, state: State) -> State:
    spent = {**dict(state.spent), state.phase: state.phase_step}
    largest = max(state.largest, event.audit.tokens)
    return changed(state, largest=largest, spent=tuple(spent.items()), **ceiling.requested(event.audit, state))


@apply.register
def _(event: happened.Replied, state: State) -> State:
    learnt = ceiling.replied(event.reply, state)
    return changed(state, pending=Pending(event.step, event.reply), **bought(event.reply, state), **learnt)


@apply.register
def _(event: happened.Acted, state: State) -> State:
    thought = state.pending.reply.thought if state.pending else ""
    record = StepRecord(event.step, thought, event.observations, "", True)
    back = returned(event.step, state.pending.reply) if state.pending else None
    recent = (*state.recent, record)[-RECENT_STEPS:]
    return changed(state, recent=recent, returned=back, **ceiling.acted(event.observations, state))


@apply.register
def _(event: happened.Planned, state: State) -> State:
    return changed(state, plan=event.items, planned=state.step + 1)


@apply.register
def _(event: happened.Asked, state: State) -> State:
    return changed(state, question=event.question, options=event.options, asked_by=event.by)


@apply.register
def _(event: happened.Answered, state: State) -> State:
    return changed(state, **NOTHING_ASKED, **guided.answered(event, state))


@apply.register
def _(event: happened.Decided, state: State) -> State:
    return changed(state, decisions=decided(state.decisions, event.decision))


@apply.register
def _(event: happened.Digested, state: State) -> State:
    facts = state.facts
    for fact in event.facts:
        facts = superseded(facts, fact)
    regions = state.regions
    for region in event.regions:
        regions = seen(regions, region)
    again = {line.block for line in event.index}
    index = (*[line for line in state.index if line.block not in again], *event.index)[-INDEX_LINES:]
    passages = (*state.passages, *event.passages)
    held = remembered(passages, state.budget) if event.passages else passages
    return changed(
        state, facts=bounded(facts), regions=regions[-REGIONS:], index=index, archived=state.archived + len(fresh(event, state)),
        passages=held, forgotten=state.forgotten + len(passages) - len(held), room=ceiling.looked(event.regions, state),
    )  # fmt: skip


@apply.register
def _(event: happened.Verified, state: State) -> State:
    refused = event.verdict.final and event.verdict.ruling is not Ruling.PASS
    return changed(
        state,
        verdict=event.verdict,
        verdict_step=event.step,
        refusals=state.refusals + refused,
        facts=observed.verified(state.facts, event.verdict),
        passages=ending(state.passages, event.step, "refused") if refused else state.passages,
    )


@apply.register
def _(event: happened.Settled, state: State) -> State:
    recent = (*state.recent[:-1], replace(state.recent[-1], kept=event.kept)) if state.recent else ()
    anew = event.kept and event.snapshot != state.snapshot
    return changed(
        state,
        snapshot=event.snapshot,
        last_change=event.step if anew else state.last_change,
        changed=event.changed,
        recent=recent,
        regions=moved(state.regions, event.hunks, event.step)[-REGIONS:],
        facts=state.facts if event.kept else observed.undone(state.facts, event.step),
        passages=settled(event, state),
        kept=state.kept + anew,
        reverted=state.reverted + (not event.kept),
    )


@apply.register
def _(event: happened.Finished, state: State) -> State:
    recent = (*state.recent[:-1], replace(state.recent[-1], outcome=event.outcome)) if state.recent else ()
    room = ceiling.finished(event.step, state)
    after = changed(state, recent=recent, **guided.finished(state))
    return changed(after, step=event.step, pending=None, outcome=event.outcome, **room)


@apply.register
def _(event: happened.Ended, state: State) -> State:
    asked: dict[str, Any] = {} if event.status is Status.BLOCKED else NOTHING_ASKED
    return changed(state, status=event.status, outcome=event.reason, commit=event.commit or state.commit, worker="", **asked)


@apply.register
def _(event: happened.CompactionWanted, state: State) -> State:
    return changed(state, keep=event.keep)


@apply.register
def _(event: happened.Compacted, state: State) -> State:
    gone, reply = frozenset(event.gone), event.reply
    held = tuple([passage for place, passage in enumerate(state.passages) if place not in gone])
    return changed(
        state, passages=held, forgotten=state.forgotten + len(state.passages) - len(held), summary=event.summary,
        compactions=state.compactions + 1, keep="",
        course=course.paid(state.course, reply.cost, reply.usage.tokens) if reply else state.course,
        **bought(reply, state),
    )  # fmt: skip


@apply.register
def _(event: ceiling.Turn, state: State) -> State:
    return changed(state, **ceiling.turned(event, state))


@apply.register
def _(event: guided.Guidance, state: State) -> State:
    return changed(state, **guided.guided(event, state))


@apply.register
def _(event: happened.Worded, state: State) -> State:
    return changed(state, **bought(event.reply, state))


@apply.register
def _(event: happened.HandedOut, state: State) -> State:
    return changed(state, delegated=(*state.delegated, event.result))


@apply.register
def _(event: course.Marked, state: State) -> State:
    return changed(state, course=course.marked(state.course, event))


@apply.register
def _(event: course.Noticed, state: State) -> State:
    return changed(state, course=course.noticed(state.course, event))


@apply.register
def _(event: Lookup, state: State) -> State:
    return changed(state, knowledge=looked_up(event, state.knowledge))


def bought(reply: Reply | None, state: State) -> dict[str, Any]:
    """One more call, whatever it was for; nothing if there was none."""
    if reply is None:
        return {}
    bill = state.bill.plus(reply.cost, reply.usage.tokens)
    return {"calls": state.calls + 1, "usage": state.usage + reply.usage, "bill": bill}


def settled(event: happened.Settled, state: State) -> tuple[Passage, ...]:
    """What an action changed was kept, or undone with all the others of its reply."""
    if event.kept and event.snapshot == state.snapshot:
        return state.passages
    return ending(state.passages, event.step, "kept", OK) if event.kept else ending(state.passages, event.step, "undone")


def fresh(event: happened.Digested, state: State) -> set[str]:
    """Outputs that can be recalled from now on, each counted once."""
    new = {line.block for line in event.index} | {one.block for one in event.passages if one.voice is Voice.OUTPUT}
    return new - {line.block for line in state.index} - {one.block for one in state.passages}


def superseded(facts: tuple[Fact, ...], new: Fact) -> tuple[Fact, ...]:
    others = [old for old in facts if old.subject != new.subject or old.kind is not new.kind]
    return (*others, new) if new.text or new.kind is not FactKind.OBSERVED else tuple(others)


def bounded(facts: tuple[Fact, ...]) -> tuple[Fact, ...]:
    """What failed is forgotten last: what outputs said goes first, of that what is not sure, then plain notes, oldest first."""
    excess = len(facts) - FACTS
    if excess <= 0:
        return facts
    first = sorted(facts, key=lambda fact: (FORGOTTEN_FIRST.get(fact.kind, len(FORGOTTEN_FIRST)), observed.is_sure(fact)))
    gone = {id(fact) for fact in first[:excess]}
    return tuple([fact for fact in facts if id(fact) not in gone])
