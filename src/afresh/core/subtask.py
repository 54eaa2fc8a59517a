"""A part of a task that was handed out, and the little that comes back of it: bounded, whatever the other agent did or said."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from enum import StrEnum

from afresh.core.change import Change
from afresh.core.fast_dataclass import dataclass
from afresh.core.truncate import to_one_line
from afresh.core.usage import Usage

MAX_SUMMARY_WORDS = 99
MAX_SUMMARY_CHARACTERS = 700
MAX_FILES = 12
MAX_PATH_CHARACTERS = 160
MAX_CHECK_LINES = 4
MAX_CHECK_LINE_CHARACTERS = 200
MAX_GOAL_CHARACTERS = 160
"""Words and characters of a summary; files, checks and characters of each; characters of a goal as it is told."""


@dataclass(frozen=True, slots=True)
class Subtask:
    """What is handed out. Whoever works on it sees this and the files as they are, and nothing else of the task."""

    goal: str
    type: str = ""
    checks: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()


class SubtaskStatus(StrEnum):
    DONE = "done"
    """Its own checks have passed, and what it changed is in the tree."""
    FAILED = "failed"
    BLOCKED = "blocked"
    """It asks a question, or nothing can verify it."""


@dataclass(frozen=True, slots=True)
class SubtaskWork:
    """The work of a subtask."""

    created: int = 0
    changed: int = 0
    deleted: int = 0
    """Files."""
    added: int = 0
    removed: int = 0
    """Lines."""
    tests: int = 0
    """New tests that pass, as far as tests are known by name."""

    @property
    def words(self) -> str:
        kinds = ((self.created, "created"), (self.changed, "changed"), (self.deleted, "deleted"))
        files = ", ".join(f"{count:,} {kind}" for count, kind in kinds if count)
        return f"files {files}; lines +{self.added:,} -{self.removed:,}; tests added {self.tests:,}" if files else ""


NO_WORK = SubtaskWork()


def work_from_changes(changes: Iterable[Change], tests: int) -> SubtaskWork:
    known = list(changes)
    kinds = Counter(change.kind for change in known)
    lines = sum(change.added for change in known), sum(change.removed for change in known)
    return SubtaskWork(kinds["added"], kinds["modified"], kinds["deleted"], *lines, tests)


@dataclass(frozen=True, slots=True)
class SubtaskMetrics:
    """The cost of a subtask."""

    steps: int = 0
    calls: int = 0
    usage: Usage = Usage()
    seconds: float = 0.0
    money: int | None = None
    """Nano-dollars; None where the price is not known."""
    work: SubtaskWork = NO_WORK

    @property
    def words(self) -> str:
        """Without the time: no prompt may depend on how fast a machine is."""
        text = f"{self.work.words}; " if self.work.words else ""
        paid = f", ${self.money / 1e9:.4f}" if self.money else ""
        tokens = f"tokens in {self.usage.input:,}, out {self.usage.output:,}"
        return f"{text}steps {self.steps}, calls {self.calls}, {tokens}{paid}"


@dataclass(frozen=True, slots=True)
class SubtaskResult:
    """All that a task learns of a part that it has handed out; the rest is in the part's own journal."""

    task: str
    step: int
    """The step in which it was handed out."""
    goal: str
    status: SubtaskStatus
    files: tuple[str, ...]
    state: tuple[str, ...]
    """The harness's word on each of its checks."""
    summary: str
    metrics: SubtaskMetrics
    more: int = 0
    """Files that are not named."""

    @property
    def text(self) -> str:
        """The text for the model."""
        files = ", ".join(self.files) + (f" and {self.more:,} more" if self.more else "")
        where = "in your tree now" if self.status is SubtaskStatus.DONE else "not taken over"
        lines = [
            f"{self.status.value}: {self.task}",
            f"files, {where}: {files}" if files else "files: none",
            f"state: {'; '.join(self.state) or 'nothing was verified'}",
            f"summary: {self.summary}",
            f"metrics: {self.metrics.words}",
        ]
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class SubtaskReturned:
    """A part has come back. Its own journal tells the rest."""

    result: SubtaskResult


RunSubtask = Callable[[Subtask], SubtaskResult]
"""Hands a part out, waits for it, and takes over what it has changed if that is verified."""


def bound_result(result: SubtaskResult) -> SubtaskResult:
    """What an agent says of itself is cut, not trusted to be short."""
    files = tuple(to_one_line(path, MAX_PATH_CHARACTERS) for path in result.files[:MAX_FILES])
    return replace(
        result,
        goal=to_one_line(result.goal, MAX_GOAL_CHARACTERS),
        files=files,
        more=result.more + len(result.files) - len(files),
        state=tuple(to_one_line(line, MAX_CHECK_LINE_CHARACTERS) for line in result.state[:MAX_CHECK_LINES]),
        summary=shorten_summary(result.summary),
    )


def shorten_summary(text: str) -> str:
    """In one line, under a hundred words."""
    words = text.split()
    note = " ".join(words) if len(words) <= MAX_SUMMARY_WORDS else " ".join(words[: MAX_SUMMARY_WORDS - 1]) + " …"
    return to_one_line(note, MAX_SUMMARY_CHARACTERS)
