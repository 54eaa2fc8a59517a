"""The words of facts in an FTS5 table."""

from collections.abc import Sequence
from typing import Any

from afresh.storage.sql.database import SqlConnection
from afresh.storage.sql.facts import FACT_COLUMNS


class SqliteFactWords:
    """The table keeps no texts: they are in the table of facts. So a fact is removed by the words that it was added with."""

    def add_fact(self, connection: SqlConnection, number: int, words: tuple[str, str]) -> None:
        connection.execute("INSERT INTO fact_words (rowid, about, body) VALUES (?, ?, ?)", (number, *words))

    def remove_fact(self, connection: SqlConnection, number: int, words: tuple[str, str]) -> None:
        gone = "INSERT INTO fact_words (fact_words, rowid, about, body) VALUES ('delete', ?, ?, ?)"
        connection.execute(gone, (number, *words))

    def rank_facts(self, connection: SqlConnection, terms: Sequence[str], where: str, given: Sequence[Any]) -> Sequence[Any]:
        rows = connection.execute(
            f"SELECT {FACT_COLUMNS} FROM fact_words JOIN fact ON number = fact_words.rowid"
            f" WHERE fact_words MATCH ?{where} ORDER BY rank LIMIT ?",
            (build_match_query(terms), *given),
        )
        return rows.fetchall()

    def find_newest(self, connection: SqlConnection, terms: Sequence[str], most: int) -> Sequence[int]:
        newest = "SELECT rowid FROM fact_words WHERE fact_words MATCH ? ORDER BY rowid DESC LIMIT ?"
        return [number for (number,) in connection.execute(newest, (build_match_query(terms), most))]

    def count_facts(self, connection: SqlConnection, term: str, most: int) -> int:
        counted = "SELECT count(*) FROM (SELECT 1 FROM fact_words WHERE fact_words MATCH ? LIMIT ?)"
        return connection.execute(counted, (build_match_query([term]), most)).fetchone()[0]


def build_match_query(terms: Sequence[str]) -> str:
    return " OR ".join(f'"{term}"' for term in terms)
