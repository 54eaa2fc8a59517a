"""The words of a content, by which it is found."""

from collections import Counter
from collections.abc import Mapping
from functools import lru_cache

from afresh.domain.words import split, stem, telling


@lru_cache(maxsize=200_000)
def stems(text: str) -> tuple[str, ...]:
    """The telling words of an identifier or a path, stemmed."""
    return tuple(map(stem, telling(split(text))))


def words_of(said: Mapping[str, int]) -> dict[str, int]:
    """How often each word is said, when identifiers are said so often."""
    found: dict[str, int] = {}
    get = found.get
    for identifier, count in said.items():
        for word in stems(identifier):
            found[word] = get(word, 0) + count
    return found


def words_in(text: str) -> Counter[str]:
    return Counter(stems(text))
