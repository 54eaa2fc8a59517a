"""The words of a content, by which it is found."""

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache

from afresh.core.search_words import STOP_WORDS, WORD_PART_PATTERN, drop_stop_words, split_words, stem_word
from afresh.core.symbol import ContentToIndex, IndexTerm

MAX_JOINED_PARTS = 3
"""Parts of a compound that is looked up as a whole too: nobody asks for a longer one but by its exact name."""


@lru_cache(maxsize=200_000)
def stem_identifier(text: str) -> tuple[str, ...]:
    """The telling words of an identifier or a path, stemmed."""
    if not (text.isascii() and text.isidentifier()):
        return tuple(map(stem_word, drop_stop_words(split_words(text))))
    parts = WORD_PART_PATTERN.findall(text)
    found = [_stem_cached(part) for part in map(str.lower, parts) if len(part) > 1 and part not in STOP_WORDS]
    if 1 < len(parts) <= MAX_JOINED_PARTS:
        found.append(stem_word("".join(parts).lower()))
    return tuple(found)


_stem_cached = lru_cache(maxsize=50_000)(stem_word)


def count_words(said: Mapping[str, int]) -> dict[str, int]:
    """How often each word is said, when identifiers are said so often."""
    found: dict[str, int] = {}
    get = found.get
    for identifier, count in said.items():
        for word in stem_identifier(identifier):
            found[word] = get(word, 0) + count
    return found


def count_words_in_text(text: str) -> Counter[str]:
    return Counter(stem_identifier(text))


def list_content_terms(taken: ContentToIndex) -> Iterable[tuple[IndexTerm, str, int]]:
    yield from ((IndexTerm.WORD, word, count) for word, count in taken.words.items())
    yield from ((IndexTerm.MENTION, name, 1) for name in taken.reading.mentions)
    yield from ((IndexTerm.SYMBOL, name, 1) for name in {symbol.short for symbol in taken.reading.symbols})
