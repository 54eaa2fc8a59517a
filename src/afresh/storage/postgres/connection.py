"""A connection to PostgreSQL that takes the shared SQL."""

from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from afresh.storage.postgres.errors import make_address_error, make_connect_error, make_missing_driver_error
from afresh.storage.sql.database import SqlRows

if TYPE_CHECKING:
    import psycopg

CONNECT_TIMEOUT_SECONDS = 10
LOCK_TIMEOUT_SECONDS = 20
"""As long as SQLite waits for another writer."""
IDLE_TRANSACTION_SECONDS = 10
"""After this the server ends a transaction whose process is stopped or cut off: others wait for its lock."""
TCP_OPTIONS = {
    "keepalives": 1,
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
}
"""A dead network is noticed after some ten seconds."""
SESSION_SQL = (
    f"SET lock_timeout = '{LOCK_TIMEOUT_SECONDS}s'; SET idle_in_transaction_session_timeout = '{IDLE_TRANSACTION_SECONDS}s';"
    " SET client_min_messages = warning; SELECT set_config('synchronous_commit', 'on', false)"
    " WHERE current_setting('synchronous_commit') IN ('off', 'local')"
)
"""Every commit is on the server's disk before it is reported, whatever the server's default is."""


@lru_cache(maxsize=512)
def translate_statement(statement: str) -> bytes:
    """The shared SQL in PostgreSQL's words: placeholders, and the elements of a JSON list."""
    listed = statement.replace("%", "%%").replace("json_each(?)", "jsonb_array_elements_text(?::jsonb) AS listed (value)")
    return listed.replace("?", "%s").encode()


class PostgresConnection:
    """One session; not shared between processes."""

    def __init__(self, address: str, schema: str) -> None:
        self._connection = _connect(address)
        self.run_script(f'{SESSION_SQL}; SET search_path = "{schema}"')

    @property
    def is_lost(self) -> bool:
        return self._connection.closed

    def execute(self, statement: str, values: Sequence[Any] = (), /) -> SqlRows:
        return self._connection.execute(translate_statement(statement), values)

    def executemany(self, statement: str, rows: Iterable[Sequence[Any]], /) -> object:
        with self._connection.cursor() as cursor:
            cursor.executemany(translate_statement(statement), rows)
        return None

    def run_script(self, script: str) -> Any:
        """Run several statements without values in one round trip; the first row of the last one, if it returns rows."""
        cursor = self._connection.execute(script.encode(), prepare=False)
        while cursor.nextset():
            pass
        return cursor.fetchone() if cursor.description else None

    def roll_back(self) -> None:
        """End the transaction, if there is one. A connection on which that fails is given up; the server ends it then."""
        import psycopg

        try:
            if not self.is_lost and self._connection.info.transaction_status:
                self.run_script("ROLLBACK")
        except psycopg.Error:
            self.close()

    def close(self) -> None:
        self._connection.close()


def _connect(address: str) -> "psycopg.Connection[Any]":
    try:
        import psycopg
    except ImportError:
        raise make_missing_driver_error() from None
    from psycopg.conninfo import conninfo_to_dict, make_conninfo

    try:
        given = conninfo_to_dict(address)
    except psycopg.ProgrammingError:
        raise make_address_error() from None
    options = {"connect_timeout": CONNECT_TIMEOUT_SECONDS, "application_name": "afresh", **TCP_OPTIONS}
    try:
        connection = psycopg.connect(make_conninfo(**{**options, **given}), autocommit=True)
    except psycopg.Error as fault:
        raise make_connect_error(fault, address) from None
    for kind, dumper in _find_dumpers().items():
        connection.adapters.register_dumper(kind, dumper)
    return connection


@cache
def _find_dumpers() -> dict[type, Any]:
    from psycopg.types.numeric import Int8Dumper
    from psycopg.types.string import StrDumperUnknown

    class TextDumper(StrDumperUnknown):
        """PostgreSQL's text can't hold the character 0. The journal has it as an escape; beside it a sign stands for it."""

        def dump(self, obj: str) -> Any:
            return super().dump(obj.replace("\0", "␀") if "\0" in obj else obj)

    return {int: Int8Dumper, str: TextDumper}
