"""The words of a content, by which it is found."""

from collections import Counter
from collections.abc import Mapping
from functools import lru_cache

from afresh.domain.words import PART, STOP_WORDS, split, stem, telling

JOINED = 3
"""Parts of a compound that is looked up as a whole too: nobody asks for a longer one but by its exact name."""


@lru_cache(maxsize=200_000)
def stems(text: str) -> tuple[str, ...]:
    """The telling words of an identifier or a path, stemmed."""
    if not (text.isascii() and text.isidentifier()):
        return tuple(map(stem, telling(split(text))))
    parts = PART.findall(text)
    found = [_stem(part) for part in map(str.lower, parts) if len(part) > 1 and part not in STOP_WORDS]
    if 1 < len(parts) <= JOINED:
        found.append(stem("".join(parts).lower()))
    return tuple(found)


_stem = lru_cache(maxsize=50_000)(stem)


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
