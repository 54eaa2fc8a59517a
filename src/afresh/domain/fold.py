"""State is fold(entries). Nothing else changes a state."""

from collections.abc import Iterable
from dataclasses import replace
from functools import singledispatch

from afresh.domain import event as happened
from afresh.domain.event import Entry, Event, Head
from afresh.domain.fact import Fact, FactKind, Region
from afresh.domain.state import Pending, State, StepRecord
from afresh.domain.task import Status

RECENT_STEPS, FACTS, REGIONS, INDEX_LINES = 6, 60, 12, 40


def fold(state: State | None, entries: Iterable[Entry]) -> State:
    last: Entry | None = None
    for entry in entries:
        if state is None:
            assert isinstance(entry.event, happened.Created), "a journal begins with Created"
            state = State(task=entry.event.task, started=entry.at)
        state, last = apply(entry.event, state), entry
    assert state is not None, "a journal is never empty"
    return replace(state, head=Head(last.seq, last.hash), updated=last.at) if last else state


@singledispatch
def apply(event: Event, state: State) -> State:
    """Created carries nothing beyond the task that `fold` has taken from it."""
    return state


@apply.register
def _(event: happened.Claimed, state: State) -> State:
    return replace(state, status=Status.RUNNING, worker=event.worker)


@apply.register
def _(event: happened.Opened, state: State) -> State:
    return replace(state, base=event.base, branch=event.branch, opened=event.snapshot, snapshot=event.snapshot, note=event.note)


@apply.register
def _(event: happened.Baselined, state: State) -> State:
    return replace(state, baseline=event.baseline)


@apply.register
def _(event: happened.Requested, state: State) -> State:
    return replace(state, largest=max(state.largest, event.audit.tokens))


@apply.register
def _(event: happened.Replied, state: State) -> State:
    usage = state.usage + event.reply.usage
    return replace(state, pending=Pending(event.step, event.reply), usage=usage, calls=state.calls + 1)


@apply.register
def _(event: happened.Acted, state: State) -> State:
    thought = state.pending.reply.thought if state.pending else ""
    record = StepRecord(event.step, thought, event.observations, "", True)
    return replace(state, recent=(*state.recent, record)[-RECENT_STEPS:])


@apply.register
def _(event: happened.Planned, state: State) -> State:
    return replace(state, plan=event.items)


@apply.register
def _(event: happened.Asked, state: State) -> State:
    return replace(state, question=event.question, options=event.options)


@apply.register
def _(event: happened.Answered, state: State) -> State:
    return replace(state, words=(*state.words, event.text), question="", options=(), status=Status.READY)


@apply.register
def _(event: happened.Decided, state: State) -> State:
    return replace(state, decisions=(*state.decisions, event.decision))


@apply.register
def _(event: happened.Digested, state: State) -> State:
    facts = state.facts
    for fact in event.facts:
        facts = superseded(facts, fact)
    regions = state.regions
    for region in event.regions:
        regions = seen(regions, region)
    index = (*state.index, *event.index)[-INDEX_LINES:]
    return replace(
        state, facts=bounded(facts), regions=regions[-REGIONS:], index=index, archived=state.archived + len(event.index)
    )


@apply.register
def _(event: happened.Verified, state: State) -> State:
    return replace(state, verdict=event.verdict, verdict_step=event.step)


@apply.register
def _(event: happened.Settled, state: State) -> State:
    recent = (*state.recent[:-1], replace(state.recent[-1], kept=event.kept)) if state.recent else ()
    return replace(
        state,
        snapshot=event.snapshot,
        changed=event.changed,
        recent=recent,
        kept=state.kept + (event.kept and event.snapshot != state.snapshot),
        reverted=state.reverted + (not event.kept),
    )


@apply.register
def _(event: happened.Finished, state: State) -> State:
    recent = (*state.recent[:-1], replace(state.recent[-1], outcome=event.outcome)) if state.recent else ()
    return replace(state, step=event.step, pending=None, recent=recent, outcome=event.outcome)


@apply.register
def _(event: happened.Ended, state: State) -> State:
    return replace(state, status=event.status, outcome=event.reason, commit=event.commit or state.commit, worker="")


def superseded(facts: tuple[Fact, ...], new: Fact) -> tuple[Fact, ...]:
    return (*(old for old in facts if (old.kind, old.subject) != (new.kind, new.subject)), new)


def bounded(facts: tuple[Fact, ...]) -> tuple[Fact, ...]:
    """What failed is forgotten last: plain notes go first, oldest first."""
    excess = len(facts) - FACTS
    if excess <= 0:
        return facts
    droppable = [fact for fact in facts if fact.kind is FactKind.NOTE] + [
        fact for fact in facts if fact.kind is not FactKind.NOTE
    ]
    gone = set(droppable[:excess])
    return tuple(fact for fact in facts if fact not in gone)


def seen(regions: tuple[Region, ...], new: Region) -> tuple[Region, ...]:
    """Touching or overlapping looks at one file become one; the newest stands last."""
    others: list[Region] = []
    for old in regions:
        if old.path == new.path and old.start <= new.end + 1 and new.start <= old.end + 1:
            new = Region(new.path, min(old.start, new.start), max(old.end, new.end), new.step, old.changed or new.changed)
        else:
            others.append(old)
    return (*others, new)
