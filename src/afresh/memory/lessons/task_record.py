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
    task: TaskRecord | None = None
    for entry in entries:
        if isinstance(entry.event, TaskCreated):
            task = TaskRecord(entry.event.task)
        assert task, "a journal begins with Created"
        task.at = task.at if task.done else entry.at
        record_event(task, entry.event)
    assert task, "a journal is never empty"
    return task


def record_event(task: TaskRecord, event: Event) -> None:
    match event:
        case BaselineMeasured(baseline):
            task.baseline = baseline
        case OutputDigested(facts):
            task.facts.update({(fact.kind, fact.subject): fact for fact in facts})
        case QuestionAsked(by=asker):
            task.asked_by_model = asker == BY_MODEL
        case QuestionAnswered(text) if task.asked_by_model:
            task.words.append(text)
        case LessonWorded():
            task.worded = event
        case TaskClaimed():
            task.rest = None
        case TaskEnded(status):
            task.done, task.rest = task.done or status is TaskStatus.DONE, event
        case _:
            record_step_event(task, event)


def record_step_event(task: TaskRecord, event: Event) -> None:
    match event:
        case ReplyReceived(step, reply):
            task.replies[step] = reply
            task.tokens += reply.usage.tokens
        case ActionsExecuted(step, observations):
            task.worked[step] = tuple(seen.ok for seen in observations)
        case VerdictReached(_, verdict) if verdict.final:
            task.verdict = verdict
            task.refused += [verdict.reason] if verdict.ruling is not Ruling.PASS else []
        case ChangeKeptOrReverted(step):
            task.settled[step] = event
        case StepFinished(step):
            task.steps = step
        case _:
            pass
