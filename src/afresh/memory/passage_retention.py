"""What becomes of a passage that memory lets go: small talk is dropped, work is told in a line, what decides stands as it is."""

import re
from collections.abc import Callable, Sequence
from enum import StrEnum

from afresh.core.step_history import (
    POOL_CHARACTERS_PER_CEILING_TOKEN,
    VOICE_DROP_WEIGHTS,
    CompactionPolicy,
    Passage,
    PassageVoice,
    compute_pool_fullness,
)
from afresh.core.truncate import to_one_line
from afresh.memory.history.names import find_names


class PassageTreatment(StrEnum):
    DROP = "drop"
    SUMMARISE = "summarise"
    VERBATIM = "verbatim"


SENTENCE_BREAK = re.compile(r"(?<=[.!?])\s+|\n+")
CHATTER_PATTERN = re.compile(
    r"(great|perfect|excellent|good|nice|ok(ay)?|alright|sure|thanks?|done|now|next|first|so|and|well|yes|right)\b[\s,.!:…-]*"
    r"|(let me|let's|let us|i'll|i will|i'm going to|i am going to|i can now|i now|we can now|time to|moving on|going on)\b.*"
    r"|(continuing|proceeding|checking|looking|starting|working)\b.*|(as asked|as planned|here we go|almost there)\b.*",
    re.IGNORECASE,
)
DECISION_PATTERN = re.compile(
    r"\b(decid(e|ed|ing)|instead of|rather than|because|the (root )?cause|turns out|must not|must never|on purpose|"
    r"will not|won't|we agreed|settled on|chose|the reason|conclusion|confirmed that|ruled out)\b",
    re.IGNORECASE,
)
MAX_STATUS_CHARACTERS = 160
MAX_VERBATIM_CHARACTERS = 200
MAX_SAID_DECISION_CHARACTERS = 300
"""Characters up to which a thought can be mere status, and of a sentence that is kept as it is."""


def classify_passage(voice: PassageVoice, text: str) -> PassageTreatment:
    """Actions and outputs are work; of thoughts it depends on what they say."""
    if voice is not PassageVoice.THOUGHT:
        return PassageTreatment.SUMMARISE
    if find_deciding_sentence(text):
        return PassageTreatment.VERBATIM
    return PassageTreatment.DROP if _is_status_only(text) else PassageTreatment.SUMMARISE


def find_deciding_sentence(text: str) -> str:
    """The last sentence that says why, or what not to do; empty when there is none."""
    sentences = [sentence for sentence in SENTENCE_BREAK.split(text) if DECISION_PATTERN.search(sentence)]
    return to_one_line(sentences[-1], MAX_VERBATIM_CHARACTERS) if sentences else ""


SAID_DECISION_PATTERN = re.compile(
    r"(?:[-*] )?(?:(?:so|ok|okay|therefore|thus|hence|then|finally|in the end|after all)[,:]? )?"
    r"(?:(?:i|we)(?: have|'ve)?(?: now| therefore| finally)? "
    r"(?:decided?|choose|chose|chosen|settled? on|agreed?|resolved?)(?: (?:to|that|not|against|on|for))?\b|"
    r"(?:(?:my|our|the) )?(?:final )?decision(?:: | is ))",
    re.IGNORECASE,
)
MAX_SAID_DECISIONS_PER_STEP = 2


def find_said_decisions(thought: str) -> list[str]:
    """Sentences of a thought that begin as a decision does ("I decide to …", "Decision: …"), word for word. Nothing that asks, or
    only considers a decision, counts."""
    sentences = [" ".join(sentence.split()) for sentence in SENTENCE_BREAK.split(thought)]
    found = [sentence for sentence in sentences if SAID_DECISION_PATTERN.match(sentence) and not sentence.endswith("?")]
    return [to_one_line(one, MAX_SAID_DECISION_CHARACTERS) for one in found[:MAX_SAID_DECISIONS_PER_STEP]]


def _is_status_only(text: str) -> bool:
    """Short, names nothing, and says only what comes next; or says nothing."""
    if not text.strip():
        return True
    return (
        len(text) <= MAX_STATUS_CHARACTERS and not find_names(text) and all(map(_is_chatter, SENTENCE_BREAK.split(text.strip())))
    )


def _is_chatter(sentence: str) -> bool:
    """Nothing but fillers, and after them perhaps what is to be done next."""
    rest = sentence.strip()
    while rest and (match := CHATTER_PATTERN.match(rest)) and match.end():
        rest = rest[match.end() :].strip()
    return not rest


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
    """Whether memory is full: by pool, by number of passages, or by the age of the oldest."""
    if len(passages) <= FULL_SLACK_FACTOR * policy.keep_passages:
        return False
    many = 0 < policy.most_passages <= len(passages)
    return many or has_aged(passages, policy) or measure_fullness(passages, ceiling) >= policy.full


def has_aged(passages: Sequence[Passage], policy: CompactionPolicy) -> bool:
    """Whether the oldest is so much too old that a compaction is worth it."""
    return policy.oldest > 0 and passages[-1].step - passages[0].step > FULL_SLACK_FACTOR * policy.oldest


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
