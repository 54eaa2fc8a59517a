"""The tables of the index of code."""

from sqlite3 import Connection

from afresh.adapters.store.schema import DatabaseSchema


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
