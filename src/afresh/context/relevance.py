"""What the work is about now, and what of all that was decided and tried concerns it. Pure."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import log
from typing import Generic, TypeVar

from afresh.core.search_words import drop_stop_words, split_words
from afresh.core.state import State
from afresh.core.truncate import join_first, to_one_line
from afresh.memory.history.names import find_file_names, find_names
from afresh.memory.recall_facts import list_current_focus, list_wider_focus

LIMIT_TOKENS_PER_ITEM = 650  # for each decision, and each failed approach, that is shown in full
CURRENT_FOCUS_WEIGHT = 3  # how much more a word counts that the current step is about
MAX_NAMED_HEADINGS = 12

MAX_HEADING_CHARACTERS = 40
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RelevanceSplit(Generic[T]):
    """What is told in full, in the order in which it came; and what is only named."""

    shown: tuple[T, ...]
    rest: tuple[T, ...]


def select_relevant_items(items: Sequence[T], told: Callable[[T], str], state: State) -> RelevanceSplit[T]:
    """Those that share words with what the work is about, rare words counting for more; then the newest."""
    many = max(1, state.task.budget // LIMIT_TOKENS_PER_ITEM)
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


def summarise_headings(texts: Sequence[str]) -> str:
    """What the rest is about, each once with how many there are: `parser.py (3), cache (2), …`."""
    counts = Counter(_find_heading(text) for text in texts)
    named = [f"{name} ({count})" if count > 1 else name for name, count in counts.items()]
    return join_first(named, MAX_NAMED_HEADINGS)


def _find_heading(text: str) -> str:
    """A file that it names, else how it begins."""
    return next(iter(find_file_names(text)), "") or to_one_line(text, MAX_HEADING_CHARACTERS)


def describe_goal_and_plan(state: State) -> str:
    """What the work is about now, in words: goal, open items of the plan, last thought."""
    return "\n".join(list_goal_and_plan_texts(state))


def list_goal_and_plan_texts(state: State, thoughts: int = 1) -> list[str]:
    spoken = [step.thought for step in state.memory.recent[-thoughts:]]
    return [state.topic, *spoken, *(item.text for item in state.work.plan if not item.done)]


def list_called_names(state: State, thoughts: int = 1) -> frozenset[str]:
    """What goal, plan and the last thoughts call by a name that no ordinary word has; of `Class.method` the method."""
    names = [name for text in list_goal_and_plan_texts(state, thoughts) for name in find_names(text)]
    return frozenset([*names, *[name.rpartition(".")[2] for name in names]])
