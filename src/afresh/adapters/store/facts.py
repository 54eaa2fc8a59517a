"""The table of facts: every fact a project has known, which of them hold, and what became of the others."""

from collections.abc import Callable, Iterator, Sequence
from sqlite3 import Connection
from typing import Any

from afresh.adapters.store.schema import Schema
from afresh.domain import observed
from afresh.domain.decided import same_subject
from afresh.domain.event import Corrected, Entry, Event, Forgotten, Settled, Verified
from afresh.domain.fact import Fact, FactKind, Scope
from afresh.domain.known import Edit, Known, fact_id, facts_in
from afresh.domain.notes import USER
from afresh.domain.words import split

COLUMNS = "id, task, kind, subject, text, confidence, block, step, source, first, last, scope, author, at, ended, ending"
FORGOTTEN = "forgotten"
CORRECTED = "corrected"
Facts = tuple[Fact, ...]


def _create(connection: Connection) -> None:
    connection.execute(
        "CREATE TABLE fact (number INTEGER PRIMARY KEY, id TEXT NOT NULL, task TEXT NOT NULL, kind TEXT NOT NULL,"
        " subject TEXT NOT NULL, text TEXT NOT NULL, confidence REAL NOT NULL, block TEXT NOT NULL, step INTEGER NOT NULL,"
        " source TEXT NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL, scope TEXT NOT NULL, author TEXT NOT NULL,"
        " at REAL NOT NULL, ended REAL NOT NULL DEFAULT 0, ending TEXT NOT NULL DEFAULT '', instead TEXT) STRICT"
    )
    connection.execute("CREATE INDEX fact_in_force ON fact (task, kind, subject) WHERE ended = 0")
    connection.execute("CREATE INDEX fact_id ON fact (id)")
    connection.execute("CREATE INDEX fact_edited ON fact (number) WHERE instead IS NOT NULL")
    connection.execute("CREATE TABLE seen (task TEXT PRIMARY KEY, seq INTEGER NOT NULL, hash TEXT NOT NULL) STRICT")
    connection.execute("CREATE VIRTUAL TABLE fact_words USING fts5(about, body, content='', tokenize='unicode61')")
    connection.execute("INSERT INTO fact_words (fact_words, rank) VALUES ('rank', 'bm25(2.0, 1.0)')")


FACTS = Schema(0x61667266, (_create,), lasting=False)


def learn(connection: Connection, entries: Sequence[Entry]) -> bool:
    """Take in entries of one journal without those that were seen already, by another process perhaps. False, and nothing is
    learnt, when some before them are missing. Of the user's own only rules for all projects: it is read in every one."""
    seen = seen_of(connection, entries[0].task) if entries else 0
    fresh = [entry for entry in entries if entry.seq > seen]
    if fresh and fresh[0].seq != seen + 1:
        return False
    for entry in fresh:
        for fact, by in facts_in(entry):
            if entry.task != USER or fact.scope is Scope.USER:
                hold(connection, owner(entry.task, fact), fact, by, entry.at)
        follow(connection, entry.event, entry)
    if fresh:
        last = fresh[-1]
        connection.execute("INSERT OR REPLACE INTO seen (task, seq, hash) VALUES (?, ?, ?)", (last.task, last.seq, last.hash))
    return True


def seen_of(connection: Connection, task: str) -> int:
    row = connection.execute("SELECT seq FROM seen WHERE task = ?", (task,)).fetchone()
    return row[0] if row else 0


def owner(task: str, fact: Fact) -> str:
    """What is told to the notebook of the project is the project's; a user's own is the user's, wherever it was told."""
    return USER if fact.scope is Scope.USER else task


def hold(connection: Connection, task: str, fact: Fact, by: str, at: float) -> None:
    """A newer fact ends the older one about the same. What a person has corrected or wanted forgotten is not learnt again."""
    name = fact_id(task, fact)
    older = about_the_same(connection, task, fact)
    if any(one.id == name for _, one in older) or edited(connection, name):
        return
    for number, one in older:
        end(connection, number, one, at, "superseded")
    if fact.text or fact.kind is not FactKind.OBSERVED:
        insert(connection, Known(name, task, fact, by, at))


def about_the_same(connection: Connection, task: str, fact: Fact) -> list[tuple[int, Known]]:
    """What is decided is told apart as the state does it, whatever the letters' case."""
    if fact.kind is not FactKind.DECISION:
        return list(in_force(connection, task, fact.kind, fact.subject))
    held = in_force(connection, task, fact.kind)
    return [(number, one) for number, one in held if same_subject(one.fact.subject, fact.subject)]


def insert(connection: Connection, known: Known) -> None:
    fact = known.fact
    row = (
        known.id, known.task, fact.kind, fact.subject, fact.text, fact.confidence, fact.block, fact.step, fact.source,
        *fact.lines, fact.scope, known.by, known.at, known.ended, known.end,
    )  # fmt: skip
    made = connection.execute(f"INSERT INTO fact ({COLUMNS}) VALUES ({', '.join('?' * len(row))})", row)
    words = made.lastrowid, *indexed(fact)
    connection.execute("INSERT INTO fact_words (rowid, about, body) VALUES (?, ?, ?)", words)


def end(connection: Connection, number: int, known: Known, at: float, how: str, instead: str | None = None) -> None:
    connection.execute("UPDATE fact SET ended = ?, ending = ?, instead = ? WHERE number = ?", (at, how, instead, number))
    if not known.ended:
        words = number, *indexed(known.fact)
        connection.execute("INSERT INTO fact_words (fact_words, rowid, about, body) VALUES ('delete', ?, ?, ?)", words)


def indexed(fact: Fact) -> tuple[str, str]:
    return " ".join(split(fact.subject)), " ".join(split(fact.text))


def follow(connection: Connection, event: Event, entry: Entry) -> None:
    """What an event does to facts that are known already."""
    match event:
        case Settled(step, False):
            drop(connection, entry, lambda facts: observed.undone(facts, step))
        case Verified(_, verdict):
            drop(connection, entry, lambda facts: observed.verified(facts, verdict))
        case Corrected(name, text, by, why):
            for number, one in reached(connection, name, entry):
                if not one.ended:
                    end(connection, number, one, entry.at, ending(CORRECTED, by, why), text)
                    new = Fact(one.fact.kind, one.fact.subject, text, scope=one.fact.scope, step=one.fact.step)
                    insert(connection, Known(fact_id(one.task, new), one.task, new, by, entry.at))
        case Forgotten(name, by, why):
            for number, one in reached(connection, name, entry):
                end(connection, number, one, entry.at, ending(FORGOTTEN, by, why), "")
        case _:
            return


def ending(what: str, by: str, why: str) -> str:
    return f"{what} by {by}{f': {why}' if why else ''}"


def reached(connection: Connection, name: str, entry: Entry) -> list[tuple[int, Known]]:
    """The user's notebook is read in every project: only the user's own rules can come of it, or be changed by it."""
    return [one for one in named(connection, name) if entry.task != USER or one[1].task == USER]


def drop(connection: Connection, entry: Entry, kept: Callable[[Facts], Facts]) -> None:
    """What was observed and no longer holds."""
    rows = list(in_force(connection, entry.task, FactKind.OBSERVED))
    held = set(map(id, kept(tuple(one.fact for _, one in rows))))
    for number, one in rows:
        if id(one.fact) not in held:
            end(connection, number, one, entry.at, "no longer so")


def in_force(connection: Connection, task: str, kind: str, subject: str | None = None) -> Iterator[tuple[int, Known]]:
    about = ("", ()) if subject is None else (" AND subject = ?", (subject,))
    rows = connection.execute(
        f"SELECT number, {COLUMNS} FROM fact WHERE ended = 0 AND task = ? AND kind = ?{about[0]}", (task, kind, *about[1])
    ).fetchall()
    return ((row[0], known(row[1:])) for row in rows)


def named(connection: Connection, name: str) -> list[tuple[int, Known]]:
    rows = connection.execute(f"SELECT number, {COLUMNS} FROM fact WHERE id = ? ORDER BY number", (name,)).fetchall()
    return [(row[0], known(row[1:])) for row in rows]


def edited(connection: Connection, name: str) -> bool:
    found = connection.execute("SELECT 1 FROM fact WHERE id = ? AND instead IS NOT NULL LIMIT 1", (name,)).fetchone()
    return found is not None


def edits(connection: Connection) -> tuple[Edit, ...]:
    """In the order in which they were made."""
    rows = connection.execute("SELECT id, text, instead FROM fact WHERE instead IS NOT NULL ORDER BY ended, number")
    return tuple(Edit(*row) for row in rows)


def known(row: Sequence[Any]) -> Known:
    name, task, kind, subject, text, confidence, block, step, source, first, last, scope, by, at, ended, ending = row
    fact = Fact(FactKind(kind), subject, text, confidence, block, step, source, (first, last), Scope(scope))
    return Known(name, task, fact, by, at, ended, ending)


def about(connection: Connection, task: str, kind: str, subject: str) -> list[Known]:
    rows = connection.execute(
        f"SELECT {COLUMNS} FROM fact WHERE task = ? AND kind = ? AND subject = ? ORDER BY number", (task, kind, subject)
    )
    return [known(row) for row in rows]
