"""The words of a question, and how much a text says of them."""

import re
from collections.abc import Mapping
from math import log

QUESTION_WORD = re.compile(r"[^\W_]\w*(?:[./-]\w+)*")
INNER_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\da-zA-Z_]+")
MIN_TERM_CHARACTERS = 3
WHOLE_WORD_WEIGHT = 3.0
INNER_WORD_WEIGHT = 1.0
MAX_COUNTED_OCCURRENCES = 3
EMPTY_WORDS = frozenset(
    ("the", "and", "for", "was", "were", "what", "which", "who", "how", "why", "did", "does", "not", "with", "that", "this",
     "from", "are", "all", "any", "has", "have", "had", "where", "when", "there")
)  # fmt: skip


def terms_from_question(question: str) -> dict[str, float]:
    """Words and identifiers in lower case, each with its weight; the words inside an identifier count for less."""
    found: dict[str, float] = {}
    for word in QUESTION_WORD.findall(question):
        parts = [part.lower() for part in INNER_WORD.findall(word)]
        if is_useful_term(word.lower()):
            found[word.lower()] = WHOLE_WORD_WEIGHT
        for part in parts:
            if is_useful_term(part):
                found.setdefault(part, INNER_WORD_WEIGHT)
    return found


def is_useful_term(word: str) -> bool:
    return len(word) >= MIN_TERM_CHARACTERS and word not in EMPTY_WORDS


def weigh_by_rarity(wanted: Mapping[str, float], texts: list[str]) -> dict[str, float]:
    """Weight of each word against the texts that could be shown: what stands in all of them tells nothing."""
    number = len(texts)
    held = {word: sum(word in text for text in texts) for word in wanted}
    return {word: weight * log(1 + (number - held[word] + 0.5) / (held[word] + 0.5)) for word, weight in wanted.items()}


def score_text(text: str, weights: Mapping[str, float]) -> float:
    """More kinds of words count for more than the same one again."""
    return sum(
        [
            weight * (1 + 0.2 * (min(text.count(word), MAX_COUNTED_OCCURRENCES) - 1))
            for word, weight in weights.items()
            if word in text
        ]
    )
