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
NAMED = 12
NAME = 40
LAST = 2
NOW = 3
"""Headings of the rest that are named, characters of each; steps of which the actions still tell what it is about; and by how
much more it counts to speak of what the work is about at this moment."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Sorted(Generic[T]):
    """What is told in full, in the order in which it came; and what is only named."""

    shown: tuple[T, ...]
    rest: tuple[T, ...]


def focus(state: State) -> str:
    """Newest first: what was just said and done, what comes next, and the goal."""
    return "\n".join((*near(state), *far(state)))


def near(state: State) -> list[str]:
    """What the work is about at this moment."""
    last = state.recent[-1:]
    ahead = [item.text for item in state.plan if not item.done]
    return [*[one.thought for one in last], *ahead[:1], *[subject(seen.action) for one in last for seen in one.observations]]


def far(state: State) -> list[str]:
    """What it is about besides."""
    before = state.recent[-LAST:-1]
    ahead = [item.text for item in state.plan if not item.done]
    failing = [failure.test for run in (state.verdict.runs if state.verdict else ()) for failure in run.failures]
    said = [*ahead[1:3], *state.words[-1:], *failing[:3], state.task.goal]
    return [*said, *[one.thought for one in before], *[subject(seen.action) for one in before for seen in one.observations]]


def concerning(items: Sequence[T], told: Callable[[T], str], state: State) -> Sorted[T]:
    """Those that share words with what the work is about, rare words counting for more; then the newest."""
    many = max(1, state.budget // PER_ITEM)
    if len(items) <= many:
        return Sorted(tuple(items), ())
    now, besides = (frozenset(telling(split("\n".join(texts)))) for texts in (near(state), far(state)))
    words = [frozenset(telling(split(told(item)))) for item in items]
    common = Counter(word for held in words for word in held)
    rarity = {word: log(1 + len(items) / count) for word, count in common.items()}
    scores = [
        sum(rarity[word] for word in held & now) * NOW + sum(rarity[word] for word in (held & besides) - now) for held in words
    ]
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
