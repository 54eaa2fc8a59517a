"""Which passages memory lets go: small talk, what is too old, then the oldest and the least likely to be asked for. Pure."""

from collections.abc import Callable, Sequence

from afresh.domain.passage import VOICE_DROP_WEIGHTS, POOL_CHARACTERS_PER_CEILING_TOKEN, Passage, compute_pool_fullness
from afresh.domain.summary import CompactionPolicy
from afresh.engine.compaction.classes import PassageTreatment

MIN_COMPACTION_GAIN_SHARE = 0.05
FULL_SLACK_FACTOR = 1.2
"""Part of the pool that a compaction must win for the loop to begin one; and by how much more there must be than always stays:
otherwise, when outputs are long, there would be one after every step."""


def compute_memory_capacity(ceiling: int) -> int:
    """Characters that memory holds."""
    return POOL_CHARACTERS_PER_CEILING_TOKEN * ceiling


def count_passage_characters(passages: Sequence[Passage]) -> int:
    return sum([passage.size for passage in passages])


def measure_fullness(passages: Sequence[Passage], ceiling: int) -> float:
    return compute_pool_fullness(count_passage_characters(passages), len(passages), ceiling)


def is_memory_full(passages: Sequence[Passage], ceiling: int, policy: CompactionPolicy) -> bool:
    return len(passages) > FULL_SLACK_FACTOR * policy.keep_passages and measure_fullness(passages, ceiling) >= policy.full


def select_passages_to_drop(
    passages: Sequence[Passage],
    now: int,
    policy: CompactionPolicy,
    of: Callable[[Passage], PassageTreatment],
    enough: Callable[[int, int], bool],
) -> tuple[int, ...]:
    """Places of what goes, until what is left is said to have given way `enough`. Passages that are alike go together."""
    old = [passage for passage in dict.fromkeys(passages) if passage.step <= now - policy.keep_steps]
    gone = {
        passage
        for passage in old
        if of(passage) is PassageTreatment.DROP or (policy.oldest and now - passage.step > policy.oldest)
    }
    left = [passage for passage in passages if passage not in gone]
    size, count = count_passage_characters(left), len(left)
    for passage in sorted((one for one in old if one not in gone), key=lambda one: -_compute_urgency(one, now)):
        if enough(size, count) or count <= policy.keep_passages:
            break
        gone.add(passage)
        size, count = size - passage.size, count - 1
    return tuple([place for place, passage in enumerate(passages) if passage in gone])


def _compute_urgency(passage: Passage, now: int) -> int:
    """As when memory has to forget without warning: an output sooner than an action of its age."""
    return (now - passage.step + 1) * VOICE_DROP_WEIGHTS[passage.voice]
