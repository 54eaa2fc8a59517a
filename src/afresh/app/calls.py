"""The calls of a task: what each was sent, to the byte."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from afresh.app.tasks import Project
from afresh.domain.action import Reply
from afresh.domain.codec import to_canonical_json
from afresh.domain.event import ActionsExecuted, ReplyReceived, CallRequested
from afresh.domain.prefix import PrefixComparison, compare_prefix
from afresh.domain.window import CallAudit, Section
from afresh.engine.audit import RebuiltCall, rebuild_all_calls
from afresh.engine.tokens import EstimatingCounter
from afresh.errors import BadInput


@dataclass(frozen=True, slots=True)
class RecordedCall:
    step: int
    audit: CallAudit
    sections: tuple[Section, ...]
    beginning: PrefixComparison
    reply: Reply | None = None

    @property
    def reported(self) -> int:
        """Tokens as the provider counted them; 0 when it did not."""
        return self.reply.usage.input if self.reply and self.reply.counted else 0


def list_audits(desk: Project, task: str) -> Sequence[tuple[int, CallAudit]]:
    return [(e.event.step, e.event.audit) for e in desk.store.journal(task) if isinstance(e.event, CallRequested)]


def load_call(desk: Project, task: str, step: int | None) -> RecordedCall:
    """One call; the last one when no step is named."""
    found, replies = list[tuple[int, CallAudit]](), dict[int, Reply]()
    for entry in desk.store.journal(task):
        if isinstance(entry.event, CallRequested):
            found.append((entry.event.step, entry.event.audit))
        elif isinstance(entry.event, ReplyReceived):
            replies[entry.event.step] = entry.event.reply
    wanted = [one for one in found if step in (None, one[0])]
    if not wanted:
        steps = f"it has steps 1 to {found[-1][0]}" if found else "it has made no call yet"
        raise BadInput(f"task {task} has no call for step {step}", next=f"{steps}; leave --step out for the last one")
    number, audit = wanted[-1]
    place = found.index(wanted[-1])
    sections, before = load_sections(desk, audit), load_sections(desk, found[place - 1][1]) if place else ()
    return RecordedCall(number, audit, sections, compare_prefix(number, before, sections), replies.get(number))


def load_sections(desk: Project, audit: CallAudit) -> tuple[Section, ...]:
    return tuple(Section(ref.name, ref.tier, ref.text(desk.store.read), ref.tokens) for ref in audit.sections)


def compare_call_beginnings(desk: Project, task: str) -> list[PrefixComparison]:
    """How far each call of a task begins as the one before it."""
    told, before = list[PrefixComparison](), tuple[Section, ...]()
    for step, audit in list_audits(desk, task):
        sections = load_sections(desk, audit)
        told.append(compare_prefix(step, before, sections))
        before = sections
    return told


def read_block_text(desk: Project, block: str, span: str = "") -> str:
    """An archived text, or the lines `A-B` of it."""
    try:
        lines = desk.store.read(block.lower()).splitlines()
    except KeyError as fault:
        raise BadInput(
            f"no archived text, or more than one, has an id that begins with {block!r}",
            next="give six characters of it or more, as context/TASK.json and project_memory.json list them",
        ) from fault
    if not span:
        return "\n".join(lines)
    found = re.fullmatch(r"(\d{1,9})(?:-(\d{1,9}))?", span.strip())
    if not found or not 1 <= int(found[1]) <= int(found[2] or found[1]) or int(found[1]) > len(lines):
        raise BadInput(f"{span!r} names no lines of it", next=f"it has {len(lines):,}: --lines 1-{len(lines)}")
    return "\n".join(lines[int(found[1]) - 1 : int(found[2] or found[1])])


def count_accumulating_tokens(desk: Project, task: str) -> int:
    """Tokens that an agent which keeps its history would have sent over the same steps: what the first call held, and in each
    later one all replies and raw outputs before it. Files that were read count as nothing, so it is a lower bound."""
    counter, history, total = EstimatingCounter(), 0, 0
    first = 0
    for entry in desk.store.journal(task):
        match entry.event:
            case CallRequested(audit=audit):
                first = first or audit.tokens
                total += first + history
            case ReplyReceived(reply=reply):
                history += counter(reply.thought + to_canonical_json(reply.actions))
            case ActionsExecuted(observations=observations):
                history += sum(counter(desk.store.read(seen.block)) for seen in observations if seen.block)
            case _:
                pass
    return total


def verify_calls(desk: Project, task: str) -> Sequence[RebuiltCall]:
    return list(rebuild_all_calls(task, desk.store))
