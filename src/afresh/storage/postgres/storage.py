"""Opens what is kept for a project on a PostgreSQL server, and what all projects share there."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from hashlib import sha256

from afresh.core.command_output import format_plural
from afresh.core.fact import USER_JOURNAL
from afresh.ports.storage import Storage
from afresh.ports.watch import Clock
from afresh.storage.postgres.database import PostgresDatabase, PostgresSchema, ServerClock, read_server_time
from afresh.storage.postgres.errors import describe_server
from afresh.storage.sql.fact_index import SqlFactIndex
from afresh.storage.sql.journal import SqlJournal
from afresh.storage.sql.ledger import SqlLedger
from afresh.storage.sql.notebook import SqlNotebook
from afresh.storage.sql.queue import SqlQueue
from afresh.storage.sql.schema import FACTS_SCHEMA, JOURNAL_SCHEMA, LEDGER_SCHEMA, NOTE_TABLE, PROJECT_TABLE

SHARED_SCHEMA_NAME = "afresh"


@dataclass(frozen=True, slots=True)
class PostgresProject:
    """Which project of a server: the key is the same on every machine."""

    key: str
    name: str = ""
    remote: str = ""

    @property
    def schema(self) -> str:
        return f"{SHARED_SCHEMA_NAME}_{hash_project_key(self.key)}"


def hash_project_key(key: str) -> str:
    return sha256(key.encode()).hexdigest()[:16]


def open_postgres_storage(address: str, project: PostgresProject, clock: Clock, shared: str = SHARED_SCHEMA_NAME) -> Storage:
    user_database = open_shared_database(address, shared)
    database = open_project_database(address, project, shared)
    journal, notebook = SqlJournal(database), SqlNotebook(database, clock)
    user_notebook = SqlNotebook(user_database, clock, USER_JOURNAL)

    @contextmanager
    def transaction() -> Iterator[None]:
        try:
            with database.writing():
                yield
        except BaseException:
            journal.forget_blocks()
            raise

    def close() -> None:
        journal.close()
        user_database.close()

    return Storage(
        journal=journal,
        queue=SqlQueue(database, ServerClock(database)),
        facts=SqlFactIndex(database, journal, (notebook, user_notebook)),
        notebook=notebook,
        user_notebook=user_notebook,
        ledger=SqlLedger(user_database, read_server_time),
        transaction=transaction,
        close=close,
    )


def describe_shared(address: str) -> str:
    with closing(open_shared_database(address)) as database, database.reading() as connection:
        version, projects = connection.execute("SELECT current_setting('server_version'), count(*) FROM project").fetchone()
    return f"{describe_server(address)}, version {version}, {format_plural(projects, 'project')}"


def open_project_database(address: str, project: PostgresProject, shared: str = SHARED_SCHEMA_NAME) -> PostgresDatabase:
    def enter() -> None:
        enter_project(address, project, shared)

    return PostgresDatabase(address, PostgresSchema(project.schema, JOURNAL_SCHEMA.text + FACTS_SCHEMA.text, enter))


def open_postgres_ledger(address: str, shared: str = SHARED_SCHEMA_NAME) -> SqlLedger:
    return SqlLedger(open_shared_database(address, shared), read_server_time)


def open_shared_database(address: str, shared: str = SHARED_SCHEMA_NAME) -> PostgresDatabase:
    return PostgresDatabase(address, PostgresSchema(shared, LEDGER_SCHEMA.text + NOTE_TABLE + PROJECT_TABLE))


def enter_project(address: str, project: PostgresProject, shared: str) -> None:
    """Enter the project into the table of projects, from which a person can see whose schema it is."""
    database = open_shared_database(address, shared)
    with closing(database), database.writing() as connection:
        connection.execute(
            "INSERT INTO project (key, name, remote, schema) VALUES (?, ?, ?, ?) ON CONFLICT (key)"
            " DO UPDATE SET name = excluded.name, remote = excluded.remote",
            (project.key, project.name, project.remote, project.schema),
        )
