"""The tables of the books."""

from sqlite3 import Connection

from afresh.adapters.store.schema import DatabaseSchema


def _create_ledger_tables(connection: Connection) -> None:
    """A call is a row. A tally is the sum of all calls under one key, what is only booked included, so that a check costs the
    same however many calls there are; `base` is what stood there when a person last reset its limit."""
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


LEDGER_SCHEMA = DatabaseSchema(0x6166726C, (_create_ledger_tables,))
