"""What the work is about now, and what of all that was decided and tried concerns it. Pure."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import log
from typing import Generic, TypeVar

from afresh.domain.action import describe_subject
from afresh.domain.state import State
from afresh.domain.text import to_one_line
from afresh.domain.trace import find_file_names
from afresh.domain.words import split_words, drop_stop_words

CEILING_TOKENS_PER_ITEM = 650
"""Tokens of the ceiling for each decision, and each failed approach, that is told in full."""
MAX_NAMED_HEADINGS = 12
MAX_HEADING_CHARACTERS = 40
FOCUS_STEPS = 2
CURRENT_FOCUS_WEIGHT = 3
"""Headings of the rest that are named, characters of each; steps of which the actions still tell what it is about; and by how
much more it counts to speak of what the work is about at this moment."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RelevanceSplit(Generic[T]):
    """What is told in full, in the order in which it came; and what is only named."""

    shown: tuple[T, ...]
    rest: tuple[T, ...]


def describe_focus(state: State) -> str:
    """Newest first: what was just said and done, what comes next, and the goal."""
    return "\n".join((*list_current_focus(state), *list_wider_focus(state)))


def list_current_focus(state: State) -> list[str]:
    """What the work is about at this moment."""
    last = state.recent[-1:]
    ahead = [item.text for item in state.plan if not item.done]
    return [
        *[one.thought for one in last],
        *ahead[:1],
        *[describe_subject(seen.action) for one in last for seen in one.observations],
    ]


def list_wider_focus(state: State) -> list[str]:
    """What it is about besides."""
    before = state.recent[-FOCUS_STEPS:-1]
    ahead = [item.text for item in state.plan if not item.done]
    failing = [failure.test for run in (state.verdict.runs if state.verdict else ()) for failure in run.failures]
    said = [*ahead[1:3], *state.words[-1:], *failing[:3], state.task.goal]
    return [
        *said,
        *[one.thought for one in before],
        *[describe_subject(seen.action) for one in before for seen in one.observations],
    ]


def select_relevant_items(items: Sequence[T], told: Callable[[T], str], state: State) -> RelevanceSplit[T]:
    """Those that share words with what the work is about, rare words counting for more; then the newest."""
    many = max(1, state.budget // CEILING_TOKENS_PER_ITEM)
    if len(items) <= many:
        return RelevanceSplit(tuple(items), ())
    now, besides = (
        frozenset(drop_stop_words(split_words("\n".join(texts))))
        for texts in (list_current_focus(state), list_wider_focus(state))
    )
    words = [frozenset(drop_stop_words(split_words(told(item)))) for item in items]
    common = Counter(word for held in words for word in held)
    rarity = {word: log(1 + len(items) / count) for word, count in common.items()}
    scores = [
        sum(rarity[word] for word in held & now) * CURRENT_FOCUS_WEIGHT + sum(rarity[word] for word in (held & besides) - now)
        for held in words
    ]
    order = sorted(range(len(items)), key=lambda place: (-scores[place], -place))
    shown = sorted(order[:many])
    return RelevanceSplit(tuple(items[place] for place in shown), tuple(items[place] for place in order[many:]))


def summarise_headings(texts: Sequence[str], more: int = 0) -> str:
    """What the rest is about, each once with how many there are: `parser.py (3), cache (2), …`."""
    counts = Counter(_find_heading(text) for text in texts)
    named = [f"{name} ({count})" if count > 1 else name for name, count in list(counts.items())[:MAX_NAMED_HEADINGS]]
    return ", ".join(named) + (", …" if len(counts) > MAX_NAMED_HEADINGS or more else "")


def _find_heading(text: str) -> str:
    """A file that it names, else how it begins."""
    return next(iter(find_file_names(text)), "") or to_one_line(text, MAX_HEADING_CHARACTERS)
