"""How one task used its context, from its journal in one pass: what calls were sent, what replies drew on, what had to be looked
for again, and which steps were wasted."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from afresh.context.measure_yield import AnsweredCall, SectionYield, measure_yields, render_reply_words
from afresh.context.rebuild_call import TOOLS_KIND, parse_tool_schemas
from afresh.core.action import Observation, describe_action
from afresh.core.event import (
    ActionsExecuted,
    CallRequested,
    ChangeKeptOrReverted,
    Event,
    JournalEntry,
    ReplyReceived,
    TaskEnded,
)
from afresh.core.lesson import LessonsLookedUp, LessonsUsed
from afresh.core.prompt import CallAudit, Section
from afresh.core.reducer import fold_entries
from afresh.core.state import State
from afresh.core.states.ceiling_state import CeilingChanged
from afresh.core.states.progress_state import StallNoticed
from afresh.core.states.supervision_state import StepsUndone
from afresh.core.task import TaskStatus
from afresh.core.tokens import render_tool_schemas
from afresh.core.tool_traits import ToolTrait, has_trait, is_archive_address

ReadBlock = Callable[[str], str]
CHARACTERS_PER_TOKEN = 4
MIN_ADDRESS_CHARACTERS = 6
"""Least characters of an output's id that count as a reference."""


@dataclass(frozen=True, slots=True)
class CallUse:
    step: int
    phase: str
    at: float
    policy: str
    tokens: int
    sections: tuple[SectionYield, ...] = ()


@dataclass(frozen=True, slots=True)
class OperationUse:
    """One tool: how often it ran, what it printed, and how much of that was asked for again."""

    tool: str
    times: int = 0
    tokens: int = 0
    recalled: int = 0
    """Outputs that were read again from the archive."""
    repeated: int = 0
    """Times that it was called as it had been called before."""


@dataclass(frozen=True, slots=True)
class WastedStep:
    step: int
    why: str
    """`undone`, `repeated`, `escalated`, `stalled`."""


@dataclass(frozen=True, slots=True)
class TaskUse:
    task: str
    type: str
    calls: tuple[CallUse, ...]
    operations: tuple[OperationUse, ...] = ()
    wasted: tuple[WastedStep, ...] = ()
    lessons: tuple[tuple[str, bool], ...] = ()
    """The lessons that were shown, each with whether a reply used it."""
    ended: float = 0.0
    """When it came to its end; 0 while it goes on."""
    verified: bool = False
    cost: int = 0
    """Nano-dollars, where the price is known."""
    tool_schemas: tuple[tuple[str, int], ...] = ()
    """Tokens of the description of each tool, as it was sent last."""

    @property
    def steps(self) -> int:
        return max((call.step for call in self.calls), default=0)

    @property
    def tokens(self) -> int:
        return sum(call.tokens for call in self.calls)

    @property
    def policy(self) -> str:
        """The policy of all of its calls; empty if they had several."""
        policies = {call.policy for call in self.calls}
        return next(iter(policies)) if len(policies) == 1 else ""


@dataclass(slots=True)
class _Pass:
    """The figures of a journal, while its entries are read."""

    state: State | None = None
    calls: list[tuple[CallRequested, str, float, str]] = field(default_factory=list)
    open: tuple[CallRequested, str, float] | None = None
    makers: dict[str, str] = field(default_factory=dict)
    done: set[str] = field(default_factory=set)
    times: Counter[str] = field(default_factory=Counter[str])
    tokens: Counter[str] = field(default_factory=Counter[str])
    recalled: Counter[str] = field(default_factory=Counter[str])
    repeated: Counter[str] = field(default_factory=Counter[str])
    wasted: list[WastedStep] = field(default_factory=list)
    lessons: dict[str, bool] = field(default_factory=dict)
    ended: float = 0.0


def collect_task_use(entries: Iterable[JournalEntry], read: ReadBlock) -> TaskUse | None:
    """None for a journal without a task."""
    found = _Pass()
    for entry in entries:
        _note_entry(found, entry)
        found.state = fold_entries(found.state, [entry])
    if found.state is None:
        return None
    state, last = found.state, found.calls[-1][0].audit if found.calls else None
    return TaskUse(
        task=state.task.id,
        type=state.task.type,
        calls=tuple(_measure_calls(found.calls, read)),
        operations=tuple(
            OperationUse(tool, times, found.tokens[tool], found.recalled[tool], found.repeated[tool])
            for tool, times in sorted(found.times.items())
        ),
        wasted=tuple(found.wasted),
        lessons=tuple(found.lessons.items()),
        ended=found.ended,
        verified=state.status in (TaskStatus.DONE, TaskStatus.APPLIED),
        cost=state.spending.costs.money,
        tool_schemas=tuple(_count_schema_tokens(last, read)) if last else (),
    )


def _note_entry(found: _Pass, entry: JournalEntry) -> None:
    match entry.event:
        case CallRequested() as call:
            found.open = call, found.state.phase if found.state else "", entry.at
        case ReplyReceived(reply=reply) if found.open:
            found.calls.append((*found.open, render_reply_words(reply.actions)))
            found.open = None
        case ActionsExecuted(step=step, observations=observations):
            for seen in observations:
                _note_observation(found, step, seen)
        case TaskEnded(status=status):
            found.ended = 0.0 if status is TaskStatus.BLOCKED else entry.at
        case event:
            _note_waste(found, event)


def _note_waste(found: _Pass, event: Event) -> None:
    match event:
        case ChangeKeptOrReverted(step=step, kept=False):
            found.wasted.append(WastedStep(step, "undone"))
        case StepsUndone(step=step):
            found.wasted.append(WastedStep(step, "undone"))
        case CeilingChanged(step=step, before=before, budget=budget) if budget > before:
            found.wasted.append(WastedStep(step + 1, "escalated"))
        case StallNoticed(step=step):
            found.wasted.append(WastedStep(step, "stalled"))
        case LessonsLookedUp(ids=ids):
            found.lessons |= {one: found.lessons.get(one, False) for one in ids}
        case LessonsUsed(ids=ids):
            found.lessons |= dict.fromkeys(ids, True)
        case _:
            pass


def _note_observation(found: _Pass, step: int, seen: Observation) -> None:
    tool, address = seen.action.tool, seen.action.args.get("path")
    if isinstance(address, str) and is_archive_address(address):
        name = address.strip().strip("[]`").removeprefix("@")
        maker = next((tool for block, tool in found.makers.items() if block.startswith(name)), "")
        if maker and len(name) >= MIN_ADDRESS_CHARACTERS:
            found.recalled[maker] += 1
            return
    found.times[tool] += 1
    found.tokens[tool] += (seen.size or len(seen.text)) // CHARACTERS_PER_TOKEN
    if seen.block:
        found.makers[seen.block] = tool
    text = describe_action(seen.action) + str(sorted(seen.action.args.items(), key=str))
    if text in found.done and not has_trait(seen.action, ToolTrait.NOTES, ToolTrait.COMPLETES, ToolTrait.RUNS):
        found.repeated[tool] += 1
        found.wasted.append(WastedStep(step, "repeated"))
    found.done.add(text)
    if has_trait(seen.action, ToolTrait.WRITES):
        found.done.clear()  # what was read before a change may well be read after it


def _measure_calls(calls: Sequence[tuple[CallRequested, str, float, str]], read: ReadBlock) -> Iterator[CallUse]:
    answered = [AnsweredCall(call.step, load_call_sections(call.audit, read), said) for call, _, _, said in calls]
    for (call, phase, at, _), measured in zip(calls, measure_yields(answered), strict=True):
        yield CallUse(call.step, phase, at, call.audit.policy, call.audit.tokens, measured.sections)


def load_call_sections(audit: CallAudit, read: ReadBlock) -> tuple[Section, ...]:
    return tuple(Section(ref.name, ref.tier, ref.text(read), ref.tokens) for ref in audit.sections)


def _count_schema_tokens(audit: CallAudit, read: ReadBlock) -> Iterator[tuple[str, int]]:
    block = next((ref.block for ref in audit.looks if ref.kind == TOOLS_KIND), "")
    for schema in parse_tool_schemas(read(block)) if block else ():
        yield schema.name, len(render_tool_schemas([schema])) // CHARACTERS_PER_TOKEN


def find_week(at: float) -> str:
    """The ISO week, such as 2026-W47."""
    year, week, _ = datetime.fromtimestamp(at, UTC).isocalendar()
    return f"{year}-W{week:02}"
