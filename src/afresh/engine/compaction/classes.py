"""What becomes of a passage that memory lets go: small talk is dropped, work is told in a line, what decides stands as it is."""

import re
from enum import StrEnum

from afresh.domain.passage import Voice
from afresh.domain.text import one_line
from afresh.domain.trace import names


class Kind(StrEnum):
    DROP = "drop"
    SUMMARISE = "summarise"
    VERBATIM = "verbatim"


SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
CHATTER = re.compile(
    r"(great|perfect|excellent|good|nice|ok(ay)?|alright|sure|thanks?|done|now|next|first|so|and|well|yes|right)\b[\s,.!:…-]*"
    r"|(let me|let's|let us|i'll|i will|i'm going to|i am going to|i can now|i now|we can now|time to|moving on|going on)\b.*"
    r"|(continuing|proceeding|checking|looking|starting|working)\b.*|(as asked|as planned|here we go|almost there)\b.*",
    re.IGNORECASE,
)
DECIDES = re.compile(
    r"\b(decid(e|ed|ing)|instead of|rather than|because|the (root )?cause|turns out|must not|must never|on purpose|"
    r"will not|won't|we agreed|settled on|chose|the reason|conclusion|confirmed that|ruled out)\b",
    re.IGNORECASE,
)
STATUS = 160
LONGEST = 200
"""Characters up to which a thought can be mere status, and of a sentence that is kept as it is."""


def kind(voice: Voice, text: str) -> Kind:
    """Actions and outputs are work; of thoughts it depends on what they say."""
    if voice is not Voice.THOUGHT:
        return Kind.SUMMARISE
    if deciding(text):
        return Kind.VERBATIM
    return Kind.DROP if status(text) else Kind.SUMMARISE


def deciding(text: str) -> str:
    """The last sentence that says why, or what not to do; empty when there is none."""
    found = [sentence for sentence in SENTENCE.split(text) if DECIDES.search(sentence)]
    return one_line(found[-1], LONGEST) if found else ""


def status(text: str) -> bool:
    """Short, names nothing, and says only what comes next; or says nothing."""
    if not text.strip():
        return True
    return len(text) <= STATUS and not names(text) and all(map(chatters, SENTENCE.split(text.strip())))


def chatters(sentence: str) -> bool:
    """Nothing but fillers, and after them perhaps what is to be done next."""
    rest = sentence.strip()
    while rest and (match := CHATTER.match(rest)) and match.end():
        rest = rest[match.end() :].strip()
    return not rest
