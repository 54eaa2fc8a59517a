"""Find facts by words. The work is bounded by how rare the rarest words are, not by how many facts there are."""

from sqlite3 import Connection

from afresh.adapters.store.facts import FACT_COLUMNS, fact_from_row
from afresh.domain.fact import FactScope
from afresh.domain.known import ProjectFact, FactQuery
from afresh.domain.words import split_words, drop_stop_words

MAX_FACTS_SEARCHED_DIRECTLY = 20_000
"""So many facts are searched as they are: counting words first would cost more than it saves."""
COMMON_TERM_FACTS = 20_000
MAX_READ_POSTINGS = 60_000
"""A word in more facts than this tells little, and to rank by it would mean to read them all; entries that are read in all."""
MAX_SEARCH_TERMS = 24
MAX_RECENT_FACTS = 200


def search_facts(connection: Connection, question: FactQuery) -> list[ProjectFact]:
    """Best first. If every word is common, the newest facts that hold one of them, best first."""
    terms = list(dict.fromkeys(drop_stop_words(split_words(question.text))))[:MAX_SEARCH_TERMS]
    if not terms:
        return list_newest_facts(connection, question)
    (size,) = connection.execute("SELECT max(number) FROM fact").fetchone()
    rare = terms if (size or 0) <= MAX_FACTS_SEARCHED_DIRECTLY else choose_rarest_terms(connection, terms)
    if rare:
        return search_ranked_facts(connection, question, rare)
    return search_recent_facts(connection, question, terms)


def search_ranked_facts(connection: Connection, question: FactQuery, terms: list[str]) -> list[ProjectFact]:
    where, given = build_conditions(question)
    rows = connection.execute(
        f"SELECT {FACT_COLUMNS} FROM fact_words JOIN fact ON number = fact_words.rowid"
        f" WHERE fact_words MATCH ?{where} ORDER BY rank LIMIT ?",
        (build_match_query(terms), *given, question.limit),
    )
    return [fact_from_row(row) for row in rows]


def search_recent_facts(connection: Connection, question: FactQuery, terms: list[str]) -> list[ProjectFact]:
    where, given = build_conditions(question)
    rows = connection.execute(
        f"SELECT {FACT_COLUMNS} FROM (SELECT rowid AS place FROM fact_words WHERE fact_words MATCH ? ORDER BY rowid DESC LIMIT ?)"
        f" JOIN fact ON number = place WHERE true{where}",
        (build_match_query(terms), MAX_RECENT_FACTS, *given),
    )
    found, wanted = [fact_from_row(row) for row in rows], set(terms)
    hits = [(len(wanted.intersection(split_words(f"{one.fact.subject} {one.fact.text}"))), one) for one in found]
    return [one for _, one in sorted(hits, key=lambda hit: -hit[0])[: question.limit]]


def list_newest_facts(connection: Connection, question: FactQuery) -> list[ProjectFact]:
    where, given = build_conditions(question)
    rows = connection.execute(
        f"SELECT {FACT_COLUMNS} FROM fact WHERE ended = 0{where} ORDER BY number DESC LIMIT ?", (*given, question.limit)
    )
    return [fact_from_row(row) for row in rows]


def build_conditions(question: FactQuery) -> tuple[str, tuple[str, ...]]:
    """A task sees its own facts, and what is its project's or the user's."""
    where, given = "", ()
    if question.kinds:
        where += f" AND kind IN ({', '.join('?' * len(question.kinds))})"
        given += tuple(question.kinds)
    if question.own:
        where += " AND task = ?"
        given += (question.task,)
    elif question.task:
        where += " AND (task = ? OR scope <> ?)"
        given += (question.task, FactScope.TASK)
    return where, given


def choose_rarest_terms(connection: Connection, terms: list[str]) -> list[str]:
    """As many as can be ranked by without reading too much, those first that tell most."""
    taken, left = list[str](), MAX_READ_POSTINGS
    for count, term in sorted((count_facts_with_term(connection, term), term) for term in terms):
        left -= count
        if count < COMMON_TERM_FACTS and left >= 0:
            taken.append(term)
    return taken


def count_facts_with_term(connection: Connection, term: str) -> int:
    """By how many facts; counted no further than it matters."""
    (count,) = connection.execute(
        "SELECT count(*) FROM (SELECT 1 FROM fact_words WHERE fact_words MATCH ? LIMIT ?)",
        (build_match_query([term]), COMMON_TERM_FACTS),
    ).fetchone()
    return count


def build_match_query(terms: list[str]) -> str:
    return " OR ".join(f'"{term}"' for term in terms)
