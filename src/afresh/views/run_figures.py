"""Figures of a task's run over a time, from its journal, by the fold that keeps them in its state: how many contexts it took, and
whether it went on after each interruption.

A context begins when a worker takes the task up, and with each compaction of memory: what an agent that keeps its history would
begin with an empty one.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from math import inf

from afresh.core.event import CallRequested, JournalEntry, QuestionAsked, TaskEnded
from afresh.core.reducer import fold_entries
from afresh.core.states.queue_state import AttemptState
from afresh.core.task import TaskStatus


@dataclass(frozen=True, slots=True)
class RunFigures:
    contexts: int = 0
    resumes: int = 0
    """How often the task was taken up again, if it became known in the time asked for what came of it."""
    resumed: int = 0
    """Of them, those after which a step was finished or the task came to an end."""
    ended: TaskStatus | None = None
    """As what it last came to rest in the time asked for; None: it did not."""
    asked: bool = False
    """Whether it asked a person something in the period."""
    window_shares: tuple[float, ...] = ()
    """Of each call in the time asked for, the part of the model's context window that its prompt took."""


def measure_run(entries: Iterable[JournalEntry], since: float = 0.0, until: float = inf) -> RunFigures:
    """The figures of a task up to a moment; resumes and the end only since another."""
    before, state = AttemptState(), None
    ended, asked, shares = None, False, list[float]()
    for entry in entries:
        if entry.at >= until:
            break
        state = fold_entries(state, [entry])
        if entry.at < since:
            before = state.times.attempts
        elif isinstance(entry.event, TaskEnded):
            ended = entry.event.status
        elif isinstance(entry.event, QuestionAsked):
            asked = True
        elif isinstance(entry.event, CallRequested) and entry.event.audit.window:
            shares.append(entry.event.audit.tokens / entry.event.audit.window)
    if state is None:
        return RunFigures()
    attempts = state.times.attempts
    resumed = attempts.resumed - before.resumed
    return RunFigures(state.contexts, attempts.resumes - before.resumes, resumed, ended, asked, tuple(shares))
