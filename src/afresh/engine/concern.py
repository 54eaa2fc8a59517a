"""What the work is about now, and what of all that was decided and tried concerns it. Pure."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import log
from typing import Generic, TypeVar

from afresh.domain.action import subject
from afresh.domain.state import State
from afresh.domain.text import one_line
from afresh.domain.trace import files
from afresh.domain.words import split, telling

PER_ITEM = 650
"""Tokens of the ceiling for each decision, and each failed approach, that is told in full."""
NAMED, NAME, LAST = 12, 40, 2
"""Headings of the rest that are named, characters of each; steps of which the actions still tell what it is about."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Sorted(Generic[T]):
    """What is told in full, in the order in which it came; and what is only named."""

    shown: tuple[T, ...]
    rest: tuple[T, ...]


def focus(state: State) -> str:
    """Newest first: what was just said and done, what comes next, and the goal."""
    recent = state.recent[-LAST:][::-1]
    thoughts = [one.thought for one in recent]
    deeds = [subject(seen.action) for one in recent for seen in one.observations]
    ahead = [item.text for item in state.plan if not item.done]
    failing = [failure.test for run in (state.verdict.runs if state.verdict else ()) for failure in run.failures]
    return "\n".join([*thoughts[:1], *ahead[:3], *deeds, *state.words[-1:], *failing[:3], state.task.goal, *thoughts[1:]])


def concerning(items: Sequence[T], told: Callable[[T], str], state: State) -> Sorted[T]:
    """Those that share words with what the work is about, rare words counting for more; then the newest."""
    many = max(1, state.budget // PER_ITEM)
    if len(items) <= many:
        return Sorted(tuple(items), ())
    about = frozenset(telling(split(focus(state))))
    words = [frozenset(telling(split(told(item)))) for item in items]
    common = Counter(word for held in words for word in held)
    scores = [sum(log(1 + len(items) / common[word]) for word in held & about) for held in words]
    order = sorted(range(len(items)), key=lambda place: (-scores[place], -place))
    shown = sorted(order[:many])
    return Sorted(tuple(items[place] for place in shown), tuple(items[place] for place in order[many:]))


def headings(texts: Sequence[str], more: int = 0) -> str:
    """What the rest is about, each once with how many there are: `parser.py (3), cache (2), …`."""
    counts = Counter(heading(text) for text in texts)
    named = [f"{name} ({count})" if count > 1 else name for name, count in list(counts.items())[:NAMED]]
    return ", ".join(named) + (", …" if len(counts) > NAMED or more else "")


def heading(text: str) -> str:
    """A file that it names, else how it begins."""
    return next(iter(files(text)), "") or one_line(text, NAME)
