from collections.abc import Iterable
from dataclasses import dataclass, field

from afresh.core.event import (
    ActionsExecuted,
    BaselineMeasured,
    ChangeKeptOrReverted,
    Event,
    JournalEntry,
    OutputDigested,
    QuestionAnswered,
    QuestionAsked,
    ReplyReceived,
    StepFinished,
    TaskClaimed,
    TaskCreated,
    TaskEnded,
    VerdictReached,
)
from afresh.core.fact import Fact, FactKind
from afresh.core.lesson import LessonWorded
from afresh.core.project_facts import BY_MODEL
from afresh.core.reply import Reply
from afresh.core.task import Task, TaskStatus
from afresh.core.verdict import Baseline, Ruling, Verdict


@dataclass(slots=True)
class TaskRecord:
    """A task's journal, sorted by what is of use afterwards."""

    task: Task
    at: float = 0.0
    """When it was done; before that, when the last thing happened."""
    done: bool = False
    rest: TaskEnded | None = None
    """How it came to rest last; None while somebody works on it."""
    baseline: Baseline | None = None
    verdict: Verdict | None = None
    steps: int = 0
    replies: dict[int, Reply] = field(default_factory=dict[int, Reply])
    worked: dict[int, tuple[bool, ...]] = field(default_factory=dict[int, tuple[bool, ...]])
    settled: dict[int, ChangeKeptOrReverted] = field(default_factory=dict[int, ChangeKeptOrReverted])
    refused: list[str] = field(default_factory=list[str])
    facts: dict[tuple[FactKind, str], Fact] = field(default_factory=dict[tuple[FactKind, str], Fact])
    words: list[str] = field(default_factory=list[str])
    """Answers to the model's questions; what a person allows or refuses is no lesson."""
    asked_by_model: bool = False
    tokens: int = 0
    worded: LessonWorded | None = None

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
        found.at = found.at if found.done else entry.at
        record_event(found, entry.event)
    assert found, "a journal is never empty"
    return found


def record_event(found: TaskRecord, event: Event) -> None:
    match event:
        case BaselineMeasured(baseline):
            found.baseline = baseline
        case OutputDigested(facts):
            found.facts.update({(fact.kind, fact.subject): fact for fact in facts})
        case QuestionAsked(by=asker):
            found.asked_by_model = asker == BY_MODEL
        case QuestionAnswered(text) if found.asked_by_model:
            found.words.append(text)
        case LessonWorded():
            found.worded = event
        case TaskClaimed():
            found.rest = None
        case TaskEnded(status):
            found.done, found.rest = found.done or status is TaskStatus.DONE, event
        case _:
            record_step_event(found, event)


def record_step_event(found: TaskRecord, event: Event) -> None:
    match event:
        case ReplyReceived(step, reply):
            found.replies[step] = reply
            found.tokens += reply.usage.tokens
        case ActionsExecuted(step, observations):
            found.worked[step] = tuple(seen.ok for seen in observations)
        case VerdictReached(_, verdict) if verdict.final:
            found.verdict = verdict
            found.refused += [verdict.reason] if verdict.ruling is not Ruling.PASS else []
        case ChangeKeptOrReverted(step):
            found.settled[step] = event
        case StepFinished(step):
            found.steps = step
        case _:
            pass
