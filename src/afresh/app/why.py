"""Is a name in a call, where from; or when and why was it dropped? Told from the journal alone."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from afresh.app.tasks import Project
from afresh.domain.action import describe_subject
from afresh.domain.codec import value_from_json
from afresh.domain.event import ActionsExecuted, MemoryCompacted, OutputDigested, JournalEntry, CallRequested
from afresh.domain.fact import Item
from afresh.domain.fold import fold_entries
from afresh.domain.memory import GatheredContext, TraceCache, assemble_gathered_context
from afresh.domain.passage import Passage, PassageVoice
from afresh.domain.state import State
from afresh.domain.template import Template
from afresh.domain.why import NeedEstimate, ArchivedCopy, NameExplanation
from afresh.domain.window import CallAudit, Omission, Section
from afresh.engine.why import rank_need_chances, find_omissions, compile_name_pattern, find_name_places
from afresh.errors import BadInput

MAX_COPIES = 5
MODEL_VOICES = (PassageVoice.THOUGHT.value, PassageVoice.ACTION.value)
"""Named after outputs, which are what one asks for."""


@dataclass(slots=True)
class HistoryUntilCall:
    """What the journal says up to the call in question."""

    state: State | None = None
    before: State | None = None
    """The state that the call was built from."""
    call: CallRequested | None = None
    calls: list[CallRequested] = field(default_factory=list[CallRequested])
    copies: dict[str, ArchivedCopy] = field(default_factory=dict[str, ArchivedCopy])
    forgotten: dict[str, int] = field(default_factory=dict[str, int])


def explain_name_in_call(desk: Project, task: str, name: str, step: int | None = None) -> NameExplanation:
    if not name.strip():
        raise BadInput("the name is empty", next="give an identifier, a path or any text: afresh context why parse_header")
    past = read_history_until_call(desk, task, step)
    if past.call is None or past.before is None:
        steps = f"it has steps 1 to {past.calls[-1].step}" if past.calls else "it has made no call yet"
        raise BadInput(f"task {task} has no call for step {step}", next=f"{steps}; leave --step out for the last one")
    wanted, audit = compile_name_pattern(name), past.call.audit
    sections = [Section(ref.name, ref.tier, ref.text(desk.store.read), ref.tokens) for ref in audit.sections]
    found = tuple(find_name_places(sections, wanted))
    held = [call.step for call in past.calls[:-1] if any(wanted.search(ref.text(desk.store.read)) for ref in call.audit.sections)]
    copies = tuple(find_archived_copies(desk, past, name))
    memory, template = load_call_memory(desk, past.before, audit)
    gone, likely = find_omissions(memory, wanted, audit.omissions), rank_need_chances(memory, template, wanted)
    reason = "" if found else explain_absence(gone, likely, copies, past)
    first, last = (held[0], held[-1]) if held else (0, 0)
    return NameExplanation(name, task, past.call.step, found, first, last, reason, tuple(gone), tuple(likely), copies)


def read_history_until_call(desk: Project, task: str, step: int | None) -> HistoryUntilCall:
    """Up to the named call; without one, to the last."""
    past = HistoryUntilCall()
    for entry in desk.store.journal(task):
        if isinstance(entry.event, CallRequested):
            past.calls.append(entry.event)
            if step in (None, entry.event.step):
                past.call, past.before = entry.event, past.state
                if step is not None:
                    return past
        apply_history_entry(past, entry)
    return past


def apply_history_entry(past: HistoryUntilCall, entry: JournalEntry) -> None:
    before, past.state = past.state, fold_entries(past.state, [entry])
    event = entry.event
    if isinstance(event, ActionsExecuted):
        for seen in event.observations:
            if seen.block:
                past.copies[seen.block] = ArchivedCopy(seen.block, event.step, seen.action.tool, describe_subject(seen.action))
    elif isinstance(event, OutputDigested) and before:
        for one in event.passages:
            if one.voice is not PassageVoice.OUTPUT:
                past.copies[one.block] = ArchivedCopy(one.block, one.step, one.voice.value, "")
        mark_forgotten(past, before, event.passages)
    elif isinstance(event, MemoryCompacted) and before:
        mark_forgotten(past, before)


def mark_forgotten(past: HistoryUntilCall, before: State, new: Sequence[Passage] = ()) -> None:
    kept = {one.block for one in past.state.passages} if past.state else set[str]()
    lost = [one.block for one in (*before.passages, *new) if one.block not in kept]
    past.forgotten.update(dict.fromkeys(lost, before.step + 1))


def find_archived_copies(desk: Project, past: HistoryUntilCall, name: str) -> list[ArchivedCopy]:
    """Archived texts that hold it and that the call could know of, the newest first."""
    wanted, until, found = compile_name_pattern(name), past.call.step if past.call else 0, list[ArchivedCopy]()
    for copy in sorted(past.copies.values(), key=lambda one: (one.kind in MODEL_VOICES, -one.step)):
        if copy.step < until and wanted.search(desk.store.read(copy.block)):
            found.append(ArchivedCopy(copy.block, copy.step, copy.kind, copy.subject, past.forgotten.get(copy.block, 0)))
        if len(found) == MAX_COPIES:
            break
    return found


def load_call_memory(desk: Project, state: State, audit: CallAudit) -> tuple[GatheredContext, Template]:
    looks = [Item(ref.kind, ref.subject, desk.store.read(ref.block)) for ref in audit.looks]
    template = value_from_json(Template, next(look.text for look in looks if look.kind == "template"))
    seen = tuple(look for look in looks if look.kind not in ("template", "tools"))
    return assemble_gathered_context(state, seen, desk.store.read, TraceCache()), template


def explain_absence(
    gone: list[Omission], likely: list[NeedEstimate], copies: tuple[ArchivedCopy, ...], past: HistoryUntilCall
) -> str:
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
