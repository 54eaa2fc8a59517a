"""The words of facts in a table of their own, ranked by the formula of SQLite's FTS5, so that a prompt does not depend on where
facts are kept."""

from collections import Counter
from collections.abc import Sequence
from functools import cache, lru_cache
from math import log
from typing import TYPE_CHECKING, Any

from afresh.storage.sql.database import SqlConnection
from afresh.storage.sql.facts import FACT_COLUMNS

if TYPE_CHECKING:
    from sqlite3 import Connection

MIN_IDF = 1e-6
"""Of a word that more than half of the facts have."""
INSERT_WORDS_SQL = (
    "INSERT INTO fact_word (word, fact, about, body, size)"
    " SELECT word, ?, about, body, ? FROM unnest(?::text[], ?::bigint[], ?::bigint[]) AS added (word, about, body)"
)
CHANGE_TOTAL_SQL = (
    "INSERT INTO fact_total (id, facts, tokens) VALUES (1, ?, ?) ON CONFLICT (id)"
    " DO UPDATE SET facts = fact_total.facts + excluded.facts, tokens = fact_total.tokens + excluded.tokens"
)
FREQUENCY_SQL = "(about * 2.0::float8 + body)"
SCORE_SQL = (
    f"sum(idf * (({FREQUENCY_SQL} * 2.2::float8)"
    f" / ({FREQUENCY_SQL} + 1.2::float8 * (1 - 0.75::float8 + 0.75::float8 * size / ?))) ORDER BY place)"
)
"""bm25 with k1 = 1.2 and b = 0.75, added up in the order of the terms: so that not even the last digit differs."""
RANK_SQL = (
    f"SELECT {FACT_COLUMNS} FROM (SELECT fact, {SCORE_SQL} AS score"
    " FROM unnest(?::text[], ?::float8[]) WITH ORDINALITY AS asked (word, idf, place) JOIN fact_word USING (word) GROUP BY fact)"
    " AS found JOIN fact ON number = found.fact WHERE true"
)


class PostgresFactWords:
    def add_fact(self, connection: SqlConnection, number: int, words: tuple[str, str]) -> None:
        about, body = (Counter(split_into_tokens(text)) for text in words)
        size, found = about.total() + body.total(), list(about | body)
        counts = [about[word] for word in found], [body[word] for word in found]
        connection.execute(INSERT_WORDS_SQL, (number, size, found, *counts))
        connection.execute(CHANGE_TOTAL_SQL, (1, size))

    def remove_fact(self, connection: SqlConnection, number: int, words: tuple[str, str]) -> None:
        tokens = [token for text in words for token in split_into_tokens(text)]
        connection.execute("DELETE FROM fact_word WHERE word = ANY(?::text[]) AND fact = ?", (sorted(set(tokens)), number))
        connection.execute(CHANGE_TOTAL_SQL, (-1, -len(tokens)))

    def rank_facts(self, connection: SqlConnection, terms: Sequence[str], where: str, given: Sequence[Any]) -> Sequence[Any]:
        asked = [token for term in terms for token in split_into_tokens(term)]
        facts, tokens = connection.execute("SELECT facts, tokens FROM fact_total").fetchone() or (0, 0)
        if not facts or not asked:
            return []
        counted = "SELECT word, count(*) FROM fact_word WHERE word = ANY(?::text[]) GROUP BY word"
        counts = dict(connection.execute(counted, (asked,)).fetchall())
        weights = [_weigh_term(facts, counts.get(token, 0)) for token in asked]
        ranked = f"{RANK_SQL}{where} ORDER BY score DESC, number LIMIT ?"
        return connection.execute(ranked, (tokens / facts, asked, weights, *given)).fetchall()

    def find_newest(self, connection: SqlConnection, terms: Sequence[str], most: int) -> Sequence[int]:
        asked = [token for term in terms for token in split_into_tokens(term)]
        newest = "SELECT DISTINCT fact FROM fact_word WHERE word = ANY(?::text[]) ORDER BY fact DESC LIMIT ?"
        return [number for (number,) in connection.execute(newest, (asked, most))]

    def count_facts(self, connection: SqlConnection, term: str, most: int) -> int:
        counted = "SELECT count(*) FROM (SELECT 1 FROM fact_word WHERE word = ANY(?::text[]) LIMIT ?) AS counted"
        return connection.execute(counted, (split_into_tokens(term), most)).fetchone()[0]


def _weigh_term(facts: int, count: int) -> float:
    """The inverse document frequency, as FTS5 has it."""
    weight = log((facts - count + 0.5) / (count + 0.5))
    return weight if weight > 0 else MIN_IDF


def split_into_tokens(text: str) -> list[str]:
    """The tokens that FTS5 makes of these words."""
    return text.split() if text.isascii() else [token for word in text.split() for token in _split_word(word)]


@lru_cache(maxsize=4_096)
def _split_word(word: str) -> tuple[str, ...]:
    """Which letters are folded depends on FTS5's own tables. So FTS5 is asked."""
    if word.isascii():
        return (word,)
    database = _open_tokenizer()
    database.execute("DELETE FROM asked")
    database.execute("INSERT INTO asked (word) VALUES (?)", (word,))
    return tuple(token for (token,) in database.execute('SELECT term FROM found ORDER BY "offset"'))


@cache
def _open_tokenizer() -> "Connection":
    import sqlite3

    database = sqlite3.connect(":memory:", check_same_thread=False)
    database.execute("CREATE VIRTUAL TABLE asked USING fts5(word, tokenize='unicode61')")
    database.execute("CREATE VIRTUAL TABLE found USING fts5vocab('asked', 'instance')")
    return database
