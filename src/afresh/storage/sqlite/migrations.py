"""What the database holds, as an ordered list of small migrations. Never edit one that has been released: add the next."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from sqlite3 import Connection
from typing import Any

from afresh.storage.sql.blocks import decompress_text
from afresh.storage.sqlite.queue_schema import add_marks, index_turns, number_changes

LEDGER_FILE_NAME = "ledger.db"
JOURNAL_FILE_NAME = "afresh.db"
"""What an export can bring back; other databases are made again from it."""


@dataclass(frozen=True, slots=True)
class DatabaseSchema:
    application: int
    """SQLite's `application_id`: identifies the file as ours."""
    migrations: tuple[Callable[[Connection], None], ...]
    lasting: bool = True
    """Every commit is on the disk before it is reported. What can be made again need not be."""


def _create_journal_tables(connection: Connection) -> None:
    """A task's order never changes (task); its status does, with every commit (ticket).

    A record is one commit: its entries from `seq` on, one a line, with the hash of each, and the blocks that came with them.
    """
    connection.execute(
        "CREATE TABLE task (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, goal TEXT NOT NULL, type TEXT NOT NULL,"
        " priority INTEGER NOT NULL, needs TEXT NOT NULL) STRICT"
    )
    connection.execute(
        "CREATE TABLE ticket (task INTEGER PRIMARY KEY REFERENCES task, status TEXT NOT NULL, seq INTEGER NOT NULL,"
        " hash BLOB NOT NULL) STRICT"
    )
    connection.execute("CREATE INDEX ticket_status ON ticket (status)")
    connection.execute(
        "CREATE TABLE record (task INTEGER NOT NULL REFERENCES task, seq INTEGER NOT NULL, hashes BLOB NOT NULL,"
        " entries ANY NOT NULL, blocks ANY, PRIMARY KEY (task, seq)) STRICT, WITHOUT ROWID"
    )


def _create_block_table(connection: Connection) -> None:
    """Which record holds a block."""
    connection.execute(
        "CREATE TABLE block (id BLOB PRIMARY KEY, task INTEGER NOT NULL, seq INTEGER NOT NULL) STRICT, WITHOUT ROWID"
    )


def _create_snapshot_table(connection: Connection) -> None:
    connection.execute(
        "CREATE TABLE snapshot (task INTEGER PRIMARY KEY REFERENCES task, seq INTEGER NOT NULL, body ANY NOT NULL) STRICT"
    )


def _create_lease_table(connection: Connection) -> None:
    connection.execute(
        "CREATE TABLE lease (task INTEGER PRIMARY KEY REFERENCES task, worker TEXT NOT NULL, expires REAL NOT NULL,"
        " token INTEGER NOT NULL) STRICT"
    )


def _create_note_table(connection: Connection) -> None:
    """The journal that no task owns."""
    connection.execute("CREATE TABLE note (seq INTEGER PRIMARY KEY, hash BLOB NOT NULL, body TEXT NOT NULL) STRICT")


def _create_part_table(connection: Connection) -> None:
    """The tasks that are a part of another, with its id."""
    connection.execute("CREATE TABLE part (task INTEGER PRIMARY KEY REFERENCES task, parent TEXT NOT NULL) STRICT")


def _add_ticket_details(connection: Connection) -> None:
    """What a list shows of each task. Tasks at rest have it in their snapshots; others get it with their next commit."""
    for column in (
        "step INTEGER",
        "step_limit INTEGER",
        "updated REAL",
        "question TEXT",
        "options TEXT",
        "ruling TEXT",
        "outcome TEXT",
    ):
        connection.execute(f"ALTER TABLE ticket ADD COLUMN {column}")
    resting = "SELECT ticket.task, body FROM ticket JOIN snapshot ON snapshot.task = ticket.task AND snapshot.seq = ticket.seq"
    for number, body in connection.execute(resting).fetchall():
        try:
            row = _read_ticket_details(json.loads(decompress_text(body))["state"])
        except (ValueError, KeyError, AttributeError):
            continue  # the journal can make the snapshot again, and the ticket with it
        connection.execute(
            "UPDATE ticket SET step = ?, step_limit = ?, updated = ?, question = ?, options = ?, ruling = ?, outcome = ?"
            " WHERE task = ?",
            (*row, number),
        )


def _read_ticket_details(state: dict[str, Any]) -> tuple[Any, ...]:
    """Snapshots are flat, or in parts if they are a little younger; what has its default is left out."""
    work, dialogue, times = (state.get(part, state) for part in ("work", "dialogue", "times"))
    verdict = state.get("verification", state).get("verdict") or {}
    return (
        *(work.get("step", 0), work.get("limit", 0), times.get("updated", 0.0)),
        *(dialogue.get("question", ""), json.dumps(dialogue.get("options", []))),
        *(verdict.get("ruling", ""), work.get("outcome", "")),
    )


def _add_followed_task(connection: Connection) -> None:
    """The task whose result another one goes on from. No task before this version does."""
    connection.execute("ALTER TABLE ticket ADD COLUMN follows TEXT NOT NULL DEFAULT ''")


JOURNAL_SCHEMA = DatabaseSchema(
    0x61667265,
    (
        _create_journal_tables,
        _create_block_table,
        _create_snapshot_table,
        _create_lease_table,
        _create_note_table,
        _create_part_table,
        _add_ticket_details,
        _add_followed_task,
        index_turns,
        add_marks,
        number_changes,
    ),
)


def apply_migrations(connection: Connection, schema: DatabaseSchema) -> None:
    """Bring the schema up to date in one transaction; a second process finds nothing left to do. One that is up to date is only
    read: a command that reads waits for no writer."""
    if connection.execute("PRAGMA user_version").fetchone() == (len(schema.migrations),):
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        for step in schema.migrations[version:]:
            step(connection)
        if version < len(schema.migrations):
            connection.execute(f"PRAGMA application_id = {schema.application}")
            connection.execute(f"PRAGMA user_version = {len(schema.migrations)}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # a full disk has ended it already
            connection.execute("ROLLBACK")
        raise


def _create_ledger_tables(connection: Connection) -> None:
    """A call is a row. A tally is the sum of all calls under one key, what is only booked included, so that a check costs the
    same however many calls there are; `base` is its value when a person last reset the limit."""
    connection.execute(
        "CREATE TABLE call (number INTEGER PRIMARY KEY, at REAL NOT NULL, project TEXT NOT NULL, name TEXT NOT NULL,"
        " task TEXT NOT NULL, parent TEXT NOT NULL, kind TEXT NOT NULL, model TEXT NOT NULL, step INTEGER NOT NULL,"
        " ceiling INTEGER NOT NULL, estimated INTEGER NOT NULL, reserve INTEGER NOT NULL, sections TEXT NOT NULL,"
        " price TEXT NOT NULL, worst INTEGER NOT NULL, worker TEXT NOT NULL, state TEXT NOT NULL,"
        " input INTEGER NOT NULL DEFAULT 0, output INTEGER NOT NULL DEFAULT 0, cached INTEGER NOT NULL DEFAULT 0,"
        " written INTEGER NOT NULL DEFAULT 0, thinking INTEGER NOT NULL DEFAULT 0, counted INTEGER NOT NULL DEFAULT 0,"
        " paid INTEGER NOT NULL DEFAULT 0, paid_input INTEGER NOT NULL DEFAULT 0, note TEXT NOT NULL DEFAULT '') STRICT"
    )
    connection.execute("CREATE INDEX call_open ON call (project, number) WHERE state = 'booked'")
    connection.execute("CREATE INDEX call_task ON call (project, task)")
    connection.execute("CREATE INDEX call_at ON call (at)")
    connection.execute(
        "CREATE TABLE tally (scope TEXT NOT NULL, key TEXT NOT NULL, unit TEXT NOT NULL, spent INTEGER NOT NULL,"
        " base INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (scope, key, unit)) STRICT, WITHOUT ROWID"
    )
    connection.execute(
        "CREATE TABLE breaker (number INTEGER PRIMARY KEY, scope TEXT NOT NULL, key TEXT NOT NULL, unit TEXT NOT NULL,"
        " most INTEGER NOT NULL, spent INTEGER NOT NULL, asked INTEGER NOT NULL, at REAL NOT NULL, ended REAL,"
        " why TEXT NOT NULL DEFAULT '') STRICT"
    )
    connection.execute("CREATE UNIQUE INDEX breaker_tripped ON breaker (scope, key, unit) WHERE ended IS NULL")
    connection.execute(
        "CREATE TABLE alert (scope TEXT NOT NULL, key TEXT NOT NULL, unit TEXT NOT NULL, percent INTEGER NOT NULL,"
        " most INTEGER NOT NULL, base INTEGER NOT NULL, spent INTEGER NOT NULL, at REAL NOT NULL,"
        " PRIMARY KEY (scope, key, unit, percent, most, base)) STRICT, WITHOUT ROWID"
    )


def _create_turn_table(connection: Connection) -> None:
    """The calls of the last minute that a rate limit covers, and those that wait. Times count from the start of the machine."""
    connection.execute(
        "CREATE TABLE turn (number INTEGER PRIMARY KEY AUTOINCREMENT, boot TEXT NOT NULL, model TEXT NOT NULL, at REAL NOT NULL,"
        " tokens INTEGER NOT NULL) STRICT"
    )


LEDGER_SCHEMA = DatabaseSchema(0x6166726C, (_create_ledger_tables, _create_turn_table))


def _create_code_index_tables(connection: Connection) -> None:
    """A posting says which contents use a term. Those of many contents that came together are packed, a row for each run of
    terms: a segment. What comes in small numbers is loose, and packed when it has become many."""
    connection.execute(
        "CREATE TABLE content (number INTEGER PRIMARY KEY AUTOINCREMENT, key BLOB NOT NULL UNIQUE, length INTEGER NOT NULL,"
        " since REAL NOT NULL, bare TEXT NOT NULL, rest TEXT NOT NULL) STRICT"
    )
    connection.execute(
        "CREATE TABLE posting (segment INTEGER NOT NULL, kind TEXT NOT NULL, first TEXT NOT NULL, run TEXT NOT NULL,"
        " PRIMARY KEY (segment, kind, first)) STRICT"
    )
    connection.execute("CREATE TABLE segment (number INTEGER PRIMARY KEY AUTOINCREMENT, size INTEGER NOT NULL) STRICT")
    connection.execute("CREATE TABLE loose (content INTEGER PRIMARY KEY, terms TEXT NOT NULL) STRICT")
    connection.execute(
        "CREATE TABLE tree (name TEXT PRIMARY KEY, used REAL NOT NULL, stamps BLOB NOT NULL, keys BLOB NOT NULL,"
        " numbers BLOB NOT NULL, lengths BLOB NOT NULL) STRICT"
    )


CODE_INDEX_SCHEMA = DatabaseSchema(0x61667263, (_create_code_index_tables,), lasting=False)


def _create_fact_tables(connection: Connection) -> None:
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


FACTS_SCHEMA = DatabaseSchema(0x61667266, (_create_fact_tables,), lasting=False)
