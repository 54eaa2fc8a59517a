"""Which passages memory lets go: small talk, what is too old, then the oldest and the least likely to be asked for. Pure."""

from collections.abc import Callable, Sequence

from afresh.domain.passage import FORGOTTEN_FIRST, POOL, Passage, fullness
from afresh.domain.summary import Pruning
from afresh.engine.compaction.classes import Kind

WORTH_WHILE = 0.05
SLACK = 1.2
"""Part of the pool that a compaction must win for the loop to begin one; and by how much more there must be than always stays:
otherwise, when outputs are long, there would be one after every step."""


def pool(ceiling: int) -> int:
    """Characters that memory holds."""
    return POOL * ceiling


def held(passages: Sequence[Passage]) -> int:
    return sum([passage.size for passage in passages])


def taken(passages: Sequence[Passage], ceiling: int) -> float:
    return fullness(held(passages), len(passages), ceiling)


def full(passages: Sequence[Passage], ceiling: int, policy: Pruning) -> bool:
    return len(passages) > SLACK * policy.keep_passages and taken(passages, ceiling) >= policy.full


def going(
    passages: Sequence[Passage], now: int, policy: Pruning, of: Callable[[Passage], Kind], enough: Callable[[int, int], bool]
) -> tuple[int, ...]:
    """Places of what goes, until what is left is said to have given way `enough`. Passages that are alike go together."""
    old = [passage for passage in dict.fromkeys(passages) if passage.step <= now - policy.keep_steps]
    gone = {passage for passage in old if of(passage) is Kind.DROP or (policy.oldest and now - passage.step > policy.oldest)}
    left = [passage for passage in passages if passage not in gone]
    size, count = held(left), len(left)
    for passage in sorted((one for one in old if one not in gone), key=lambda one: -urgency(one, now)):
        if enough(size, count) or count <= policy.keep_passages:
            break
        gone.add(passage)
        size, count = size - passage.size, count - 1
    return tuple([place for place, passage in enumerate(passages) if passage in gone])


def urgency(passage: Passage, now: int) -> int:
    """As when memory has to forget without warning: an output sooner than an action of its age."""
    return (now - passage.step + 1) * FORGOTTEN_FIRST[passage.voice]
