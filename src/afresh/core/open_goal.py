"""Which items of a numbered goal are still open: the plan, whose items are ticked off, tells."""

import re
from collections.abc import Sequence

from afresh.core.search_words import drop_stop_words, split_words, stem_word
from afresh.core.states.strategy_state import PlanItem

ITEM_START = re.compile(r"^\s{0,3}(?:(\d{1,2})[.)]|\((\d{1,2})\)|[-*•])\s+", re.MULTILINE)
LEADING_NUMBER = re.compile(r"\W*(?:item |number |task )?(\d{1,2})\b", re.IGNORECASE)
MIN_SHARED_WORDS = 2
"""With an item of the goal, so that a finished item of the plan is about it."""


def split_goal_items(goal: str) -> tuple[str, tuple[str, ...]]:
    """What stands before a list, and its items; none if there are fewer than two."""
    starts = [match.start() for match in ITEM_START.finditer(goal)]
    if len(starts) < 2:
        return goal, ()
    ends = [*starts[1:], len(goal)]
    return goal[: starts[0]], tuple([goal[start:end].strip() for start, end in zip(starts, ends, strict=True)])


def remove_finished_items(goal: str, plan: Sequence[PlanItem]) -> str:
    """The goal without the items that finished items of the plan are about, and no open one."""
    before, items = split_goal_items(goal)
    if not items or not any(item.done for item in plan) or all(item.done for item in plan):
        return goal
    finished = {match_goal_item(item.text, items, MIN_SHARED_WORDS) for item in plan if item.done}
    finished -= {match_goal_item(item.text, items, 1) for item in plan if not item.done}
    return "\n".join([before.rstrip(), *[item for place, item in enumerate(items) if place not in finished]])


def describe_next_item(goal: str, plan: Sequence[PlanItem]) -> str:
    """The first open item of the plan, and the item of the goal that it is about, once one is done."""
    ahead = next((item.text for item in plan if not item.done), "")
    if not ahead or not any(item.done for item in plan):
        return ahead
    _, items = split_goal_items(goal)
    place = match_goal_item(ahead, items, 1)
    return f"{ahead}\n{items[place]}" if place >= 0 else ahead


def match_goal_item(text: str, items: Sequence[str], least: int) -> int:
    """The place of the item with the same number, else of the one that shares most words; -1 if none shares enough."""
    number = LEADING_NUMBER.match(text)
    if number and 0 < int(number[1]) <= len(items):
        return int(number[1]) - 1
    words = _collect_words(text)
    shared = [len(words & _collect_words(item)) for item in items]
    best = max(shared, default=0)
    return shared.index(best) if best >= least else -1


def _collect_words(text: str) -> set[str]:
    return {stem_word(word) for word in drop_stop_words(split_words(ITEM_START.sub("", text)))}
