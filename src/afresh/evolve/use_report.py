"""What the journals of a project say about its prompts, added up: by section, kind of item, type of task, phase and week."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from afresh.context.cache_prefix import SECTIONS_SENT_FIRST
from afresh.context.measure_yield import SectionYield, add_by_section
from afresh.core.prompt import FOOTER_SECTION, TURN_SECTION
from afresh.evolve.task_use import OperationUse, TaskUse, find_week

MIN_CALLS = 10
"""With fewer calls an unused section proves nothing."""
UNUSED_SHARE = 0.02
"""Drawn on less than this counts as never."""
BLOAT_SHARE = 0.05
"""Of all tokens: a section that takes as much and is hardly drawn on bloats the prompt."""


@dataclass(frozen=True, slots=True)
class WeekTrend:
    week: str
    tasks: int
    verified: int
    calls: int
    tokens: float
    """Mean tokens of a call."""
    drawn: float
    """The part of what was sent that replies drew on, without tools and system text."""
    wasted: int
    tokens_per_verified: float = 0.0
    """All tokens that were sent, for each verified task; 0 if none was."""
    saved: float | None = None
    """The part of them by which it is better than the last week before that has them."""


@dataclass(frozen=True, slots=True)
class LessonUse:
    id: str
    shown: int
    used: int


@dataclass(frozen=True, slots=True)
class UseReport:
    tasks: int
    calls: int
    tokens: int
    sections: tuple[SectionYield, ...]
    phases: tuple[SectionYield, ...]
    types: tuple[SectionYield, ...]
    operations: tuple[OperationUse, ...]
    wasted: tuple[tuple[str, int], ...]
    lessons: tuple[LessonUse, ...]
    weeks: tuple[WeekTrend, ...]
    tools: tuple[tuple[str, int], ...] = ()
    """Tokens of each tool's description in every call."""

    @property
    def whole(self) -> SectionYield:
        return sum((section for section in self.sections if is_chosen_section(section.name)), SectionYield(""))

    @property
    def unused(self) -> list[SectionYield]:
        """Sections that replies never drew on, the largest first."""
        return [
            section
            for section in self.sections
            if is_chosen_section(section.name) and self.calls >= MIN_CALLS and section.share < UNUSED_SHARE
        ]

    @property
    def bloated(self) -> list[SectionYield]:
        """Sections with the most tokens that were not drawn on."""
        some = [
            section
            for section in self.sections
            if is_chosen_section(section.name) and section.tokens >= BLOAT_SHARE * self.tokens
        ]
        return sorted(some, key=lambda section: section.drawn - section.tokens)[:5]

    @property
    def missing(self) -> list[OperationUse]:
        """Tools whose results had to be recalled or asked for again."""
        return sorted(
            (operation for operation in self.operations if operation.recalled or operation.repeated),
            key=lambda operation: -operation.recalled - operation.repeated,
        )


def is_chosen_section(name: str) -> bool:
    """Whether a section is a choice of the policy: not the system text, the tools, the footer or a turn."""
    return name not in SECTIONS_SENT_FIRST and name not in (FOOTER_SECTION, TURN_SECTION)


def add_up_use(tasks: Sequence[TaskUse]) -> UseReport:
    calls = [(task, call) for task in tasks for call in task.calls]
    return UseReport(
        tasks=len(tasks),
        calls=len(calls),
        tokens=sum(call.tokens for _, call in calls),
        sections=_largest_first(section for _, call in calls for section in call.sections),
        phases=_largest_first(SectionYield(call.phase or "none", *_add_chosen(call.sections)) for _, call in calls),
        types=_largest_first(SectionYield(task.type, *_add_chosen(call.sections)) for task, call in calls),
        operations=tuple(_add_operations(operation for task in tasks for operation in task.operations)),
        wasted=tuple(Counter(step.why for task in tasks for step in task.wasted).most_common()),
        lessons=tuple(_add_lessons(tasks)),
        weeks=tuple(_list_weeks(tasks)),
        tools=max((task.tool_schemas for task in tasks), key=len, default=()),
    )


def _largest_first(yields: Iterable[SectionYield]) -> tuple[SectionYield, ...]:
    return tuple(sorted(add_by_section(yields), key=lambda section: -section.tokens))


def _add_chosen(sections: Iterable[SectionYield]) -> tuple[float, float]:
    chosen = sum((section for section in sections if is_chosen_section(section.name)), SectionYield(""))
    return chosen.tokens, chosen.drawn


def _add_operations(operations: Iterable[OperationUse]) -> list[OperationUse]:
    """The most expensive first."""
    found = dict[str, OperationUse]()
    for operation in operations:
        held = found.get(operation.tool, OperationUse(operation.tool))
        found[operation.tool] = OperationUse(
            operation.tool,
            held.times + operation.times,
            held.tokens + operation.tokens,
            held.recalled + operation.recalled,
            held.repeated + operation.repeated,
        )
    return sorted(found.values(), key=lambda one: -one.tokens)


def _add_lessons(tasks: Sequence[TaskUse]) -> Iterator[LessonUse]:
    shown = Counter(name for task in tasks for name, _ in task.lessons)
    used = Counter(name for task in tasks for name, was_used in task.lessons if was_used)
    return (LessonUse(name, times, used[name]) for name, times in shown.most_common())


def _list_weeks(tasks: Sequence[TaskUse]) -> Iterator[WeekTrend]:
    """One trend for each week; a task counts in the week of its last call."""
    weeks = dict[str, list[TaskUse]]()
    for task in tasks:
        if task.calls:
            weeks.setdefault(find_week(task.calls[-1].at), []).append(task)
    former = 0.0
    for week, some in sorted(weeks.items()):
        calls = [call for task in some for call in task.calls]
        sent = [_add_chosen(call.sections) for call in calls]
        whole, spent, verified = (
            sum(tokens for tokens, _ in sent),
            sum(call.tokens for call in calls),
            sum(task_use.verified for task_use in some),
        )
        each = spent / verified if verified else 0.0
        yield WeekTrend(
            week,
            tasks=len(some),
            verified=verified,
            calls=len(calls),
            tokens=spent / len(calls),
            drawn=sum(drawn for _, drawn in sent) / whole if whole else 0.0,
            wasted=sum(len(task.wasted) for task in some),
            tokens_per_verified=each,
            saved=1 - each / former if each and former else None,
        )
        former = each or former
