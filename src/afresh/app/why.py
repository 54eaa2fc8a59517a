"""Is a name in a call, where from; or when and why was it dropped? Told from the journal alone."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from afresh.app.tasks import Desk
from afresh.domain.action import subject
from afresh.domain.codec import loads
from afresh.domain.event import Acted, Compacted, Digested, Entry, Requested
from afresh.domain.fact import Look
from afresh.domain.fold import fold
from afresh.domain.memory import Memory, Recollection, gathered
from afresh.domain.passage import Passage, Voice
from afresh.domain.state import State
from afresh.domain.template import Template
from afresh.domain.why import Chance, Copy, Why
from afresh.domain.window import Audit, Omission, Section
from afresh.engine.why import chances, omitted, pattern, places
from afresh.errors import BadInput

MOST = 5
SAID = (Voice.THOUGHT.value, Voice.ACTION.value)
"""Named after outputs, which are what one asks for."""


@dataclass(slots=True)
class Past:
    """What the journal says up to the call in question."""

    state: State | None = None
    before: State | None = None
    """The state that the call was built from."""
    call: Requested | None = None
    calls: list[Requested] = field(default_factory=list[Requested])
    copies: dict[str, Copy] = field(default_factory=dict[str, Copy])
    forgotten: dict[str, int] = field(default_factory=dict[str, int])


def why(desk: Desk, task: str, name: str, step: int | None = None) -> Why:
    if not name.strip():
        raise BadInput("the name is empty", next="give an identifier, a path or any text: afresh context why parse_header")
    past = walked(desk, task, step)
    if past.call is None or past.before is None:
        steps = f"it has steps 1 to {past.calls[-1].step}" if past.calls else "it has made no call yet"
        raise BadInput(f"task {task} has no call for step {step}", next=f"{steps}; leave --step out for the last one")
    wanted, audit = pattern(name), past.call.audit
    sections = [Section(ref.name, ref.tier, ref.text(desk.store.read), ref.tokens) for ref in audit.sections]
    found = tuple(places(sections, wanted))
    held = [call.step for call in past.calls[:-1] if any(wanted.search(ref.text(desk.store.read)) for ref in call.audit.sections)]
    copies = tuple(holding(desk, past, name))
    memory, template = remembered(desk, past.before, audit)
    gone, likely = omitted(memory, wanted, audit.omissions), chances(memory, template, wanted)
    reason = "" if found else absence(gone, likely, copies, past)
    first, last = (held[0], held[-1]) if held else (0, 0)
    return Why(name, task, past.call.step, found, first, last, reason, tuple(gone), tuple(likely), copies)


def walked(desk: Desk, task: str, step: int | None) -> Past:
    """Up to the named call; without one, to the last."""
    past = Past()
    for entry in desk.store.journal(task):
        if isinstance(entry.event, Requested):
            past.calls.append(entry.event)
            if step in (None, entry.event.step):
                past.call, past.before = entry.event, past.state
                if step is not None:
                    return past
        passed(past, entry)
    return past


def passed(past: Past, entry: Entry) -> None:
    before, past.state = past.state, fold(past.state, [entry])
    event = entry.event
    if isinstance(event, Acted):
        for seen in event.observations:
            if seen.block:
                past.copies[seen.block] = Copy(seen.block, event.step, seen.action.tool, subject(seen.action))
    elif isinstance(event, Digested) and before:
        for one in event.passages:
            if one.voice is not Voice.OUTPUT:
                past.copies[one.block] = Copy(one.block, one.step, one.voice.value, "")
        let_go(past, before, event.passages)
    elif isinstance(event, Compacted) and before:
        let_go(past, before)


def let_go(past: Past, before: State, new: Sequence[Passage] = ()) -> None:
    kept = {one.block for one in past.state.passages} if past.state else set[str]()
    lost = [one.block for one in (*before.passages, *new) if one.block not in kept]
    past.forgotten.update(dict.fromkeys(lost, before.step + 1))


def holding(desk: Desk, past: Past, name: str) -> list[Copy]:
    """Archived texts that hold it and that the call could know of, the newest first."""
    wanted, until, found = pattern(name), past.call.step if past.call else 0, list[Copy]()
    for copy in sorted(past.copies.values(), key=lambda one: (one.kind in SAID, -one.step)):
        if copy.step < until and wanted.search(desk.store.read(copy.block)):
            found.append(Copy(copy.block, copy.step, copy.kind, copy.subject, past.forgotten.get(copy.block, 0)))
        if len(found) == MOST:
            break
    return found


def remembered(desk: Desk, state: State, audit: Audit) -> tuple[Memory, Template]:
    looks = [Look(ref.kind, ref.subject, desk.store.read(ref.block)) for ref in audit.looks]
    template = loads(Template, next(look.text for look in looks if look.kind == "template"))
    seen = tuple(look for look in looks if look.kind not in ("template", "tools"))
    return gathered(state, seen, desk.store.read, Recollection()), template


def absence(gone: list[Omission], likely: list[Chance], copies: tuple[Copy, ...], past: Past) -> str:
    if gone:
        return f"{gone[0].what} ({gone[0].section}): {gone[0].reason}"
    if likely:
        best = likely[0]
        met = f"last met in step {best.step} ({best.voice})"
        return f"less likely to be needed than what is shown: p = {best.probability:.3f}, {met}"
    forgotten = [copy for copy in copies if copy.forgotten]
    if forgotten:
        return f"no longer in memory: forgotten after step {max(copy.forgotten for copy in forgotten)}, kept in the archive"
    if copies:
        return f"it stands in the archive only: {copies[0].kind} of step {copies[0].step}"
    return "nothing that this task had seen before the call holds it"
