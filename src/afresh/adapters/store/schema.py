"""What the database holds, as an ordered list of small migrations. Never edit one that has been released: add the next."""

from collections.abc import Callable
from dataclasses import dataclass
from sqlite3 import Connection


@dataclass(frozen=True, slots=True)
class DatabaseSchema:
    application: int
    """SQLite's `application_id`: tells our file from any other database."""
    migrations: tuple[Callable[[Connection], None], ...]
    lasting: bool = True
    """Every commit is on the disk before it is reported. What can be made again need not be."""


def _create_journal_tables(connection: Connection) -> None:
    """What was ordered never changes (task); where it stands does, with every commit (ticket).

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


JOURNAL_SCHEMA = DatabaseSchema(
    0x61667265,
    (
        _create_journal_tables,
        _create_block_table,
        _create_snapshot_table,
        _create_lease_table,
        _create_note_table,
        _create_part_table,
    ),
)


def apply_migrations(connection: Connection, schema: DatabaseSchema) -> None:
    """Bring the schema up to date in one transaction; whoever comes second finds nothing left to do."""
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
        connection.execute("ROLLBACK")
        raise
