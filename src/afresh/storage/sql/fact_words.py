"""The words of the facts in force, ranked by bm25, in which subjects count double."""

from collections import Counter
from collections.abc import Sequence
from math import log
from typing import Any
from unicodedata import combining, normalize

from afresh.core.search_words import split_words
from afresh.storage.sql.database import SqlConnection

FACT_COLUMNS = "id, task, kind, subject, text, confidence, block, step, source, first, last, scope, author, at, ended, ending"
MIN_IDF = 1e-6
"""Weight of a word that more than half of the facts have."""
MAX_WORD_CHARACTERS = 80
CHANGE_TOTAL_SQL = (
    "INSERT INTO fact_total (id, facts, tokens) VALUES (1, ?, ?) ON CONFLICT (id)"
    " DO UPDATE SET facts = fact_total.facts + excluded.facts, tokens = fact_total.tokens + excluded.tokens"
)
RANK_SQL = (
    f"WITH asked (word, idf) AS (VALUES {{asked}}) SELECT {FACT_COLUMNS} FROM (SELECT fact, CAST(sum(idf * 2.2"
    " * (about + about + body) / (about + about + body + 1.2 * (0.25 + 0.75 * size / CAST(? AS DOUBLE PRECISION)))) * 1000000000"
    " AS BIGINT) AS score FROM asked JOIN fact_word USING (word) GROUP BY fact) AS found JOIN fact ON number = found.fact"
    " WHERE true{conditions} ORDER BY score DESC, number LIMIT ?"
)
"""bm25 with k1 = 1.2 and b = 0.75, in whole billionths: the order in which a database adds does not change the ranking."""


def fold_words(text: str) -> list[str]:
    """The words to look a text up by, without accents."""
    words = [word[:MAX_WORD_CHARACTERS] for word in split_words(text)]
    if text.isascii():
        return words
    return ["".join(sign for sign in normalize("NFKD", word) if not combining(sign)) for word in words]


def add_words(connection: SqlConnection, number: int, subject: str, text: str) -> None:
    about, body = Counter(fold_words(subject)), Counter(fold_words(text))
    size = about.total() + body.total()
    rows = [(word, number, about[word], body[word], size) for word in about | body]
    connection.executemany("INSERT INTO fact_word (word, fact, about, body, size) VALUES (?, ?, ?, ?, ?)", rows)
    connection.execute(CHANGE_TOTAL_SQL, (1, size))


def remove_words(connection: SqlConnection, number: int, subject: str, text: str) -> None:
    words = [*fold_words(subject), *fold_words(text)]
    connection.executemany("DELETE FROM fact_word WHERE word = ? AND fact = ?", [(word, number) for word in sorted(set(words))])
    connection.execute(CHANGE_TOTAL_SQL, (-1, -len(words)))


def rank_facts(
    connection: SqlConnection, words: Sequence[str], conditions: str, values: Sequence[Any], most: int
) -> Sequence[Any]:
    """Rows of FACT_COLUMNS with one of the words, best first, that meet the conditions."""
    facts, tokens = connection.execute("SELECT facts, tokens FROM fact_total").fetchone() or (0, 0)
    if not facts:
        return []
    listed = ", ".join("?" * len(words))
    counted = f"SELECT word, count(*) FROM fact_word WHERE word IN ({listed}) GROUP BY word"
    counts = dict[str, int](connection.execute(counted, tuple(words)).fetchall())
    weights = [max(MIN_IDF, log((facts - counts.get(word, 0) + 0.5) / (counts.get(word, 0) + 0.5))) for word in words]
    ranked = RANK_SQL.format(asked=", ".join(["(?, CAST(? AS DOUBLE PRECISION))"] * len(words)), conditions=conditions)
    asked = [value for pair in zip(words, weights, strict=True) for value in pair]
    return connection.execute(ranked, (*asked, tokens / facts, *values, most)).fetchall()


def find_newest(connection: SqlConnection, words: Sequence[str], most: int) -> list[int]:
    """The numbers of the newest facts that have one of the words."""
    one = "SELECT fact FROM (SELECT fact FROM fact_word WHERE word = ? ORDER BY fact DESC LIMIT ?) AS newest"
    rows = connection.execute(" UNION ".join([one] * len(words)), [value for word in words for value in (word, most)])
    return sorted((number for (number,) in rows), reverse=True)[:most]


def count_facts(connection: SqlConnection, word: str, most: int) -> int:
    """How many facts have the word, counted up to `most`."""
    counted = "SELECT count(*) FROM (SELECT 1 FROM fact_word WHERE word = ? LIMIT ?) AS counted"
    return connection.execute(counted, (word, most)).fetchone()[0]
