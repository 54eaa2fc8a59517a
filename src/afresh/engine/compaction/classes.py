"""What becomes of a passage that memory lets go: small talk is dropped, work is told in a line, what decides stands as it is."""

import re
from enum import StrEnum

from afresh.domain.passage import PassageVoice
from afresh.domain.text import to_one_line
from afresh.domain.trace import find_names


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
    found = [sentence for sentence in SENTENCE_BREAK.split(text) if DECISION_PATTERN.search(sentence)]
    return to_one_line(found[-1], MAX_VERBATIM_CHARACTERS) if found else ""


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
