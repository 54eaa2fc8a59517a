"""A part of a task that was handed out, and the little that comes back of it: bounded, whatever the other agent did or said."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum

from afresh.domain.action import Usage
from afresh.domain.text import one_line

WORDS = 99
SUMMARY = 700
FILES = 12
PATH = 160
LINES = 4
LINE = 200
GOAL = 160
"""Words and characters of a summary; files, checks and characters of each; characters of a goal as it is told."""


@dataclass(frozen=True, slots=True)
class Part:
    """What is handed out. Whoever works on it sees this and the files as they are, and nothing else of the task."""

    goal: str
    type: str = ""
    checks: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()


class Fate(StrEnum):
    DONE = "done"
    """Its own checks have passed, and what it changed is in the tree."""
    FAILED = "failed"
    BLOCKED = "blocked"
    """It asks something, or nothing can verify it."""


@dataclass(frozen=True, slots=True)
class Metrics:
    steps: int = 0
    calls: int = 0
    usage: Usage = Usage()
    seconds: float = 0.0
    money: int | None = None
    """Nano-dollars; None where the price is not known."""

    @property
    def words(self) -> str:
        paid = f", ${self.money / 1e9:.4f}" if self.money else ""
        tokens = f"tokens in {self.usage.input:,}, out {self.usage.output:,}"
        return f"steps {self.steps}, calls {self.calls}, {tokens}{paid}, {self.seconds:.1f} s"


@dataclass(frozen=True, slots=True)
class Delegated:
    """All that a task learns of a part that it has handed out; the rest is in the part's own journal."""

    task: str
    step: int
    """In which it was handed out."""
    goal: str
    status: Fate
    files: tuple[str, ...]
    state: tuple[str, ...]
    """The harness's word on each of its checks."""
    summary: str
    metrics: Metrics
    more: int = 0
    """Files that are not named."""

    @property
    def text(self) -> str:
        """As the model reads it."""
        files = ", ".join(self.files) + (f" and {self.more:,} more" if self.more else "")
        where = "in your tree now" if self.status is Fate.DONE else "not taken over"
        lines = [
            f"{self.status.value}: {self.task}",
            f"files, {where}: {files}" if files else "files: none",
            f"state: {'; '.join(self.state) or 'nothing was verified'}",
            f"summary: {self.summary}",
            f"metrics: {self.metrics.words}",
        ]
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class HandedOut:
    """A part has come back. Its own journal tells the rest."""

    result: Delegated


HandOut = Callable[[Part], Delegated]
"""Hands a part out, waits for it, and takes over what it has changed if that is verified."""


def bounded(result: Delegated) -> Delegated:
    """What an agent says of itself is cut, not trusted to be short."""
    files = tuple(one_line(path, PATH) for path in result.files[:FILES])
    return replace(
        result,
        goal=one_line(result.goal, GOAL),
        files=files,
        more=result.more + len(result.files) - len(files),
        state=tuple(one_line(line, LINE) for line in result.state[:LINES]),
        summary=brief(result.summary),
    )


def brief(text: str) -> str:
    """In one line, under a hundred words."""
    words = text.split()
    said = " ".join(words) if len(words) <= WORDS else " ".join(words[: WORDS - 1]) + " …"
    return one_line(said, SUMMARY)
