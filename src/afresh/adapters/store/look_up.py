"""Find facts by words. The work is bounded by how rare the rarest words are, not by how many facts there are."""

from sqlite3 import Connection

from afresh.adapters.store.facts import COLUMNS, known
from afresh.domain.fact import Scope
from afresh.domain.known import Known, Question
from afresh.domain.words import split, telling

FEW = 20_000
"""So many facts are searched as they are: counting words first would cost more than it saves."""
COMMON = 20_000
READ = 60_000
"""A word in more facts than this tells little, and to rank by it would mean to read them all; entries that are read in all."""
TERMS = 24
NEWEST = 200


def look_up(connection: Connection, question: Question) -> list[Known]:
    """Best first. If every word is common, the newest facts that hold one of them, best first."""
    terms = list(dict.fromkeys(telling(split(question.text))))[:TERMS]
    if not terms:
        return newest(connection, question)
    (size,) = connection.execute("SELECT max(number) FROM fact").fetchone()
    rare = terms if (size or 0) <= FEW else rarest(connection, terms)
    if rare:
        return ranked(connection, question, rare)
    return recent(connection, question, terms)


def ranked(connection: Connection, question: Question, terms: list[str]) -> list[Known]:
    where, given = limits(question)
    rows = connection.execute(
        f"SELECT {COLUMNS} FROM fact_words JOIN fact ON number = fact_words.rowid"
        f" WHERE fact_words MATCH ?{where} ORDER BY rank LIMIT ?",
        (matching(terms), *given, question.limit),
    )
    return [known(row) for row in rows]


def recent(connection: Connection, question: Question, terms: list[str]) -> list[Known]:
    where, given = limits(question)
    rows = connection.execute(
        f"SELECT {COLUMNS} FROM (SELECT rowid AS place FROM fact_words WHERE fact_words MATCH ? ORDER BY rowid DESC LIMIT ?)"
        f" JOIN fact ON number = place WHERE true{where}",
        (matching(terms), NEWEST, *given),
    )
    found, wanted = [known(row) for row in rows], set(terms)
    hits = [(len(wanted.intersection(split(f"{one.fact.subject} {one.fact.text}"))), one) for one in found]
    return [one for _, one in sorted(hits, key=lambda hit: -hit[0])[: question.limit]]


def newest(connection: Connection, question: Question) -> list[Known]:
    where, given = limits(question)
    rows = connection.execute(
        f"SELECT {COLUMNS} FROM fact WHERE ended = 0{where} ORDER BY number DESC LIMIT ?", (*given, question.limit)
    )
    return [known(row) for row in rows]


def limits(question: Question) -> tuple[str, tuple[str, ...]]:
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
        given += (question.task, Scope.TASK)
    return where, given


def rarest(connection: Connection, terms: list[str]) -> list[str]:
    """As many as can be ranked by without reading too much, those first that tell most."""
    taken, left = list[str](), READ
    for count, term in sorted((held(connection, term), term) for term in terms):
        left -= count
        if count < COMMON and left >= 0:
            taken.append(term)
    return taken


def held(connection: Connection, term: str) -> int:
    """By how many facts; counted no further than it matters."""
    (count,) = connection.execute(
        "SELECT count(*) FROM (SELECT 1 FROM fact_words WHERE fact_words MATCH ? LIMIT ?)", (matching([term]), COMMON)
    ).fetchone()
    return count


def matching(terms: list[str]) -> str:
    return " OR ".join(f'"{term}"' for term in terms)
