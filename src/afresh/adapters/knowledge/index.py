"""Full-text index over what can be looked up: in memory, filled once, and afterwards only with what has changed."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from afresh.domain.words import split_words, stem_word, drop_stop_words

if TYPE_CHECKING:
    from sqlite3 import Connection

MAX_CANDIDATES = 24
MAX_QUESTION_WORDS = 60
"""Of these many the fit is worked out; and of a long question these many words are asked for."""


class LessonIndex:
    """Documents by key: what they are about, their tags, their text. The rank is BM25, of the three in that order of weight."""

    def __init__(self) -> None:
        self._database: Connection | None = None
        self._stamps: dict[str, object] = {}

    def keep(self, stamps: Mapping[str, object], documents: Mapping[str, tuple[str, str, str]]) -> None:
        """What is gone or has another stamp goes; what is new comes in."""
        stale = [key for key, stamp in self._stamps.items() if stamps.get(key) != stamp]
        new = [key for key in stamps if key in stale or key not in self._stamps]
        if stale or new:
            rows = self._rows
            rows.executemany("DELETE FROM held WHERE key = ?", [(key,) for key in stale])
            texts = [(key, *[" ".join(split_index_words(text)) for text in documents[key]]) for key in new]
            rows.executemany("INSERT INTO held (key, head, tags, body) VALUES (?, ?, ?, ?)", texts)
        self._stamps = dict(stamps)

    def candidates(self, question: str) -> Sequence[str]:
        """Keys of documents with a word of the question, the best first."""
        asked = list(dict.fromkeys(split_index_words(question)))[:MAX_QUESTION_WORDS]
        if not asked or not self._stamps:
            return []
        query = " OR ".join(f'"{word}"' for word in asked)
        order = "SELECT key FROM held WHERE held MATCH ? ORDER BY bm25(held, 0, 4, 3, 1), key LIMIT ?"
        return [key for (key,) in self._rows.execute(order, (query, MAX_CANDIDATES))]

    @property
    def _rows(self) -> "Connection":
        if self._database is None:
            import sqlite3

            self._database = sqlite3.connect(":memory:", check_same_thread=False)
            tokens = "tokenize = 'unicode61 remove_diacritics 0'"
            self._database.execute(f"CREATE VIRTUAL TABLE held USING fts5(key UNINDEXED, head, tags, body, {tokens})")
        return self._database


def split_index_words(text: str) -> list[str]:
    return [stem_word(word) for word in drop_stop_words(split_words(text))]
