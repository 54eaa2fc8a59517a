"""Shows recorded calls, and explains from the journal why a name is in a call or when it was dropped."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from afresh.app.inspect.read_steps import iterate_step_entries
from afresh.app.project import Project
from afresh.context.cache_prefix import PrefixComparison, compare_prefix
from afresh.context.explain import (
    ArchivedCopy,
    NameExplanation,
    find_last_sighting,
    find_name_places,
    find_omissions,
)
from afresh.context.measure_yield import SectionYield, measure_call, render_reply_words
from afresh.context.rebuild_call import RebuiltCall, load_call_inputs, rebuild_all_calls
from afresh.core.action import describe_subject
from afresh.core.event import ActionsExecuted, CallRequested, JournalEntry, MemoryCompacted, OutputDigested, ReplyReceived
from afresh.core.prompt import UNKNOWN_ORIGIN, CallAudit, Omission, PromptOrigin, Section
from afresh.core.reducer import fold_entries
from afresh.core.reply import Reply
from afresh.core.state import State
from afresh.core.step_history import Passage, PassageVoice
from afresh.core.text import compile_name_pattern, escape_hidden, to_visible_json_lines
from afresh.errors import BadInput
from afresh.memory.gathered_context import TraceCache
from afresh.views.model_calls import call_to_json


@dataclass(frozen=True, slots=True)
class RecordedCall:
    step: int
    audit: CallAudit
    sections: tuple[Section, ...]
    beginning: PrefixComparison
    reply: Reply | None = None
    drawn: tuple[SectionYield, ...] = ()
    """What the reply and the next one drew on, section by section; empty as long as there is no reply."""
    origin: PromptOrigin = UNKNOWN_ORIGIN

    @property
    def reported(self) -> int:
        """Tokens as counted by the provider; 0 if it reported none."""
        return self.reply.usage.input if self.reply and self.reply.counted else 0


def list_audits(project: Project, task: str) -> Sequence[tuple[int, CallAudit]]:
    return [(e.event.step, e.event.audit) for e in project.store.journal(task) if isinstance(e.event, CallRequested)]


def load_call(project: Project, task: str, step: int | None) -> RecordedCall:
    """Load one call (default: the last one)."""
    state = project.store.load(task)
    near = state.work.step if step is None else step
    found, replies = list[tuple[int, CallAudit]](), dict[int, Reply]()
    origins = dict[int, PromptOrigin]()
    for entry in iterate_step_entries(project, task, near - 1, None if step is None else step + 1):
        if isinstance(entry.event, CallRequested):
            found.append((entry.event.step, entry.event.audit))
            origins[entry.event.step] = entry.event.origin
        elif isinstance(entry.event, ReplyReceived):
            replies[entry.event.step] = entry.event.reply
    wanted = [one for one in found if step in (None, one[0])]
    if not wanted:
        steps = f"it has steps 1 to {state.work.step}" if state.work.step else "it has made no call yet"
        raise BadInput(f"task {task} has no call for step {step}", next=f"{steps}; omit --step for the last one")
    number, audit = wanted[-1]
    place = found.index(wanted[-1])
    sections, before = load_sections(project, audit), load_sections(project, found[place - 1][1]) if place else ()
    said = [replies[one] for one, _ in found[place : place + 2] if one in replies]
    words = "\n".join(render_reply_words(reply.actions) for reply in said)
    drawn = measure_call(sections, words) if number in replies else ()
    beginning, reply = compare_prefix(number, before, sections), replies.get(number)
    return RecordedCall(number, audit, sections, beginning, reply, tuple(drawn), origins[number])


def write_call_files(project: Project, task: str, folder: Path, step: int | None = None) -> list[Path]:
    """Write each call's audit as JSON, and what its model thought as Markdown where the provider tells it. Returns the files."""
    files = list[tuple[str, str]]()
    times = {e.event.step: e.at for e in project.store.journal(task) if isinstance(e.event, CallRequested)}
    for number, at in times.items():
        if step not in (None, number):
            continue
        call = load_call(project, task, number)
        when = {"task": task, "at": datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds")}
        audit = when | call_to_json(call.audit, call.sections, call.audit.omissions, call.step, call.reported, call.drawn)
        files.append((f"step_{number}.json", to_visible_json_lines(audit)))
        if call.reply and call.reply.thinking:
            files.append((f"step_{number}.thinking.md", render_thinking(call.reply)))
    if not files:
        raise BadInput(f"task {task} has made no such call", next=f"`afresh show {task}` says how far it is")
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files:
        (folder / name).write_text(text, "utf-8")
    return [folder / name for name, _ in files]


def render_thinking(reply: Reply) -> str:
    """What a model thought, block by block, with what its provider says of the tokens."""
    used = f"{reply.usage.thinking:,} tokens" if reply.usage.thinking else "how many tokens, the provider does not say"
    blocks = ["(redacted by the provider)" if thinking.redacted else escape_hidden(thinking.text) for thinking in reply.thinking]
    return "\n\n".join([f"{reply.model}: {used}", *blocks]) + "\n"


def load_sections(project: Project, audit: CallAudit) -> tuple[Section, ...]:
    return tuple(Section(ref.name, ref.tier, ref.text(project.store.read), ref.tokens) for ref in audit.sections)


def read_block_text(project: Project, block: str, span: str = "") -> str:
    """Return an archived text, or its lines `A-B`."""
    try:
        lines = project.store.read(block.lower()).splitlines()
    except KeyError as fault:
        raise BadInput(
            f"no archived text, or more than one, matches {block!r}",
            next="give at least six characters of an id; context/TASK.json and project_memory.json list them",
        ) from fault
    if not span:
        return "\n".join(lines)
    match = re.fullmatch(r"(\d{1,9})(?:-(\d{1,9}))?", span.strip())
    if not match or not 1 <= int(match[1]) <= int(match[2] or match[1]) or int(match[1]) > len(lines):
        raise BadInput(f"invalid --lines value {span!r}", next=f"the text has {len(lines):,} lines: --lines 1-{len(lines)}")
    return "\n".join(lines[int(match[1]) - 1 : int(match[2] or match[1])])


def verify_calls(project: Project, task: str) -> Sequence[RebuiltCall]:
    return list(rebuild_all_calls(task, project.store))


MAX_COPIES = 5
MODEL_VOICES = (PassageVoice.THOUGHT.value, PassageVoice.ACTION.value)
"""Listed after outputs, which are what people usually search for."""


@dataclass(slots=True)
class HistoryUntilCall:
    """The journal up to one call."""

    state: State | None = None
    before: State | None = None
    """The state that the call was built from."""
    call: CallRequested | None = None
    calls: list[CallRequested] = field(default_factory=list[CallRequested])
    copies: dict[str, ArchivedCopy] = field(default_factory=dict[str, ArchivedCopy])
    forgotten: dict[str, int] = field(default_factory=dict[str, int])


def explain_name_in_call(project: Project, task: str, name: str, step: int | None = None) -> NameExplanation:
    if not name.strip():
        raise BadInput("the name is empty", next="give an identifier, a path or any text: afresh context why parse_header")
    past = read_history_until_call(project, task, step)
    if past.call is None or past.before is None:
        steps = f"it has steps 1 to {past.calls[-1].step}" if past.calls else "it has made no call yet"
        raise BadInput(f"task {task} has no call for step {step}", next=f"{steps}; omit --step for the last one")
    wanted, audit = compile_name_pattern(name), past.call.audit
    inputs = load_call_inputs(past.before, audit, project.store, TraceCache())
    name_places = tuple(find_name_places(load_sections(project, audit), inputs.memory, wanted))
    held = [
        call.step for call in past.calls[:-1] if any(wanted.search(ref.text(project.store.read)) for ref in call.audit.sections)
    ]
    copies = tuple(find_archived_copies(project, past, name))
    gone = find_omissions(inputs.memory, wanted, audit.omissions)
    reason = "" if name_places else explain_absence(gone, find_last_sighting(inputs.memory, wanted), copies)
    first, last = (held[0], held[-1]) if held else (0, 0)
    return NameExplanation(name, task, past.call.step, name_places, first, last, reason, tuple(gone), copies)


def read_history_until_call(project: Project, task: str, step: int | None) -> HistoryUntilCall:
    """Read the journal up to the call of `step` (default: the last one)."""
    past = HistoryUntilCall()
    for entry in project.store.journal(task):
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
        for passage in event.passages:
            if passage.voice is not PassageVoice.OUTPUT:
                past.copies[passage.block] = ArchivedCopy(passage.block, passage.step, passage.voice.value, "")
        mark_forgotten(past, before, event.passages)
    elif isinstance(event, MemoryCompacted) and before:
        mark_forgotten(past, before)


def mark_forgotten(past: HistoryUntilCall, before: State, new: Sequence[Passage] = ()) -> None:
    kept = {passage.block for passage in past.state.memory.passages} if past.state else set[str]()
    lost = [passage.block for passage in (*before.memory.passages, *new) if passage.block not in kept]
    past.forgotten.update(dict.fromkeys(lost, before.work.step + 1))


def find_archived_copies(project: Project, past: HistoryUntilCall, name: str) -> list[ArchivedCopy]:
    """Return archived texts that contain the name and existed before the call, newest first."""
    wanted, until, copies = compile_name_pattern(name), past.call.step if past.call else 0, list[ArchivedCopy]()
    for copy in sorted(past.copies.values(), key=lambda archived_copy: (archived_copy.kind in MODEL_VOICES, -archived_copy.step)):
        if copy.step < until and wanted.search(project.store.read(copy.block)):
            copies.append(ArchivedCopy(copy.block, copy.step, copy.kind, copy.subject, past.forgotten.get(copy.block, 0)))
        if len(copies) == MAX_COPIES:
            break
    return copies


def explain_absence(gone: list[Omission], last: str, copies: tuple[ArchivedCopy, ...]) -> str:
    if gone:
        return f"{gone[0].what} ({gone[0].section}): {gone[0].reason}"
    if last:
        return f"less likely to be needed than what is shown: {last}"
    forgotten = [copy for copy in copies if copy.forgotten]
    if forgotten:
        return f"no longer in memory: forgotten after step {max(copy.forgotten for copy in forgotten)}, kept in the archive"
    if copies:
        return f"only in the archive: {copies[0].kind} of step {copies[0].step}"
    return "this task had not seen it before the call"
