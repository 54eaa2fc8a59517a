"""Figures of a task's run, from its journal: how many contexts it took, and whether it went on after each interruption.

A context begins when a worker claims the task, and with each compaction of memory: what an agent that keeps its history would
begin with an empty one.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from math import inf

from afresh.core.event import JournalEntry, MemoryCompacted, StepFinished, TaskClaimed, TaskEnded
from afresh.core.task import TaskStatus


@dataclass(frozen=True, slots=True)
class RunFigures:
    contexts: int = 0
    resumes: int = 0
    """Claims after the first one, in the time asked for, of which it is known whether the task went on."""
    resumed: int = 0
    """Of them, those after which a step was finished or the task came to an end."""
    ended: TaskStatus | None = None
    """As what it last came to rest in the time asked for; None: it did not."""


def measure_run(entries: Iterable[JournalEntry], since: float = 0.0, until: float = inf) -> RunFigures:
    """The figures of a task up to a moment; resumes and the end only since another."""
    contexts, claims, resumes, resumed = 0, 0, 0, 0
    waiting, ended = False, None
    for entry in entries:
        if entry.at >= until:
            break
        match entry.event:
            case TaskClaimed():
                resumes += waiting
                claims, contexts = claims + 1, contexts + 1
                waiting = claims > 1 and entry.at >= since
            case MemoryCompacted():
                contexts += 1
            case StepFinished():
                resumes, resumed, waiting = resumes + waiting, resumed + waiting, False
            case TaskEnded(status):
                resumes, resumed, waiting = resumes + waiting, resumed + waiting, False
                ended = status if entry.at >= since else ended
            case _:
                pass
    return RunFigures(contexts, resumes, resumed, ended)
