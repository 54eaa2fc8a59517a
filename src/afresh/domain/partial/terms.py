"""The words of a question, and how much a text says of them."""

import re
from collections.abc import Mapping
from math import log

WORD = re.compile(r"[^\W_]\w*(?:[./-]\w+)*")
INNER = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\da-zA-Z_]+")
SHORTEST = 3
WHOLE = 3.0
INSIDE = 1.0
OFTEN = 3
EMPTY = frozenset(
    ("the", "and", "for", "was", "were", "what", "which", "who", "how", "why", "did", "does", "not", "with", "that", "this",
     "from", "are", "all", "any", "has", "have", "had", "where", "when", "there")
)  # fmt: skip


def terms(question: str) -> dict[str, float]:
    """Words and identifiers in lower case, each with its weight; the words inside an identifier count for less."""
    found: dict[str, float] = {}
    for word in WORD.findall(question):
        parts = [part.lower() for part in INNER.findall(word)]
        if useful(word.lower()):
            found[word.lower()] = WHOLE
        for part in parts:
            if useful(part):
                found.setdefault(part, INSIDE)
    return found


def useful(word: str) -> bool:
    return len(word) >= SHORTEST and word not in EMPTY


def rarity(wanted: Mapping[str, float], texts: list[str]) -> dict[str, float]:
    """Weight of each word against the texts that could be shown: what stands in all of them tells nothing."""
    number = len(texts)
    held = {word: sum(word in text for text in texts) for word in wanted}
    return {word: weight * log(1 + (number - held[word] + 0.5) / (held[word] + 0.5)) for word, weight in wanted.items()}


def score(text: str, weights: Mapping[str, float]) -> float:
    """More kinds of words count for more than the same one again."""
    return sum([weight * (1 + 0.2 * (min(text.count(word), OFTEN) - 1)) for word, weight in weights.items() if word in text])
