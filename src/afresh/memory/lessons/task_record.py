from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from afresh.core.change import Hunk
from afresh.core.context_item import LEFT_OUT_MARK
from afresh.core.event import (
    ActionsExecuted,
    BaselineMeasured,
    CallRequested,
    ChangeKeptOrReverted,
    Event,
    JournalEntry,
    OutputDigested,
    QuestionAnswered,
    ReplyReceived,
    StepFinished,
    TaskCreated,
    TaskEnded,
    VerdictReached,
)
from afresh.core.fact import Fact, FactKind
from afresh.core.item_record import place_from_ref
from afresh.core.lesson import LessonWorded
from afresh.core.old_records import Place
from afresh.core.reply import Reply
from afresh.core.task import Task, TaskStatus
from afresh.core.verdict import Baseline, Ruling, Verdict


@dataclass(slots=True)
class TaskRecord:
    """A task's journal, sorted by what is of use afterwards."""

    task: Task
    at: float = 0.0
    done: bool = False
    baseline: Baseline | None = None
    verdict: Verdict | None = None
    steps: int = 0
    replies: dict[int, Reply] = field(default_factory=dict[int, Reply])
    worked: dict[int, tuple[bool, ...]] = field(default_factory=dict[int, tuple[bool, ...]])
    settled: dict[int, ChangeKeptOrReverted] = field(default_factory=dict[int, ChangeKeptOrReverted])
    refused: list[str] = field(default_factory=list[str])
    facts: dict[tuple[FactKind, str], Fact] = field(default_factory=dict[tuple[FactKind, str], Fact])
    words: list[str] = field(default_factory=list[str])
    tokens: int = 0
    hunks: tuple[Hunk, ...] = ()
    """Of the last kept change, until the call after it tells what the lines belong to."""
    worded: LessonWorded | None = None
    names: dict[str, dict[str, None]] = field(default_factory=dict[str, dict[str, None]])
    """By file: definitions that were changed."""

    @property
    def models(self) -> set[str]:
        return {reply.model for reply in self.replies.values()}

    @property
    def changed(self) -> tuple[str, ...]:
        return self.settled[max(self.settled)].changed if self.settled else ()


def task_record_from_journal(entries: Iterable[JournalEntry]) -> TaskRecord:
    found: TaskRecord | None = None
    for entry in entries:
        if isinstance(entry.event, TaskCreated):
            found = TaskRecord(entry.event.task)
        assert found, "a journal begins with Created"
        record_event(found, entry.event, entry.at)
    assert found, "a journal is never empty"
    return found


def record_event(found: TaskRecord, event: Event, at: float) -> None:
    match event:
        case BaselineMeasured(baseline):
            found.baseline = baseline
        case OutputDigested(facts):
            found.facts.update({(fact.kind, fact.subject): fact for fact in facts})
        case QuestionAnswered(text):
            found.words.append(text)
        case LessonWorded():
            found.worded = event
        case TaskEnded(status) if status is TaskStatus.DONE:
            found.done, found.at = True, at
        case _:
            record_step_event(found, event)


def record_step_event(found: TaskRecord, event: Event) -> None:
    match event:
        case CallRequested(_, audit):
            record_changed_definitions(
                found, [place for ref in audit.looks if ref.kind == "file" and (place := place_from_ref(ref))]
            )
        case ReplyReceived(step, reply):
            found.replies[step] = reply
            found.tokens += reply.usage.tokens
        case ActionsExecuted(step, observations):
            found.worked[step] = tuple(seen.ok for seen in observations)
        case VerdictReached(_, verdict) if verdict.final:
            found.verdict = verdict
            found.refused += [verdict.reason] if verdict.ruling is not Ruling.PASS else []
        case ChangeKeptOrReverted(step, kept):
            found.settled[step], found.hunks = event, event.hunks if kept else ()
        case StepFinished(step):
            found.steps = step
        case _:
            pass


def record_changed_definitions(found: TaskRecord, shown: Sequence[Place]) -> None:
    """The call after a change was shown the changed lines, under the names of what they are part of."""
    for path, first, last, names in shown:
        if any(hunk.path == path and hunk.new_start <= last and first < hunk.new_start + hunk.new_count for hunk in found.hunks):
            found.names.setdefault(path, {}).update(dict.fromkeys(name for name in names if name != LEFT_OUT_MARK))
    found.hunks = ()
