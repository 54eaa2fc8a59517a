"""A real PostgreSQL, with the tables of DBOS and of the fleet."""

import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit
from uuid import uuid4

import psycopg
import pytest

sys.path.append(str(Path(__file__).parents[2] / "bench"))

from afresh.fleet.dispatch import APPLICATION, APPLICATION_VERSION, DBOS_SCHEMA, open_client
from afresh.fleet.executor_lock import open_connection
from afresh.fleet.tables import SCHEMA, make_tables


@pytest.fixture(scope="session")
def database(postgres_server: str) -> Iterator[str]:
    """The address of an empty database."""
    name = f"fleet_{uuid4().hex}"
    with psycopg.connect(postgres_server, autocommit=True) as server:
        server.execute(f"CREATE DATABASE {name}".encode())
        yield urlunsplit(urlsplit(postgres_server)._replace(path=f"/{name}"))
        server.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())


@pytest.fixture(scope="session")
def dbos_tables(database: str) -> str:
    from dbos import DBOS

    DBOS(
        config={
            "name": APPLICATION,
            "system_database_url": database,
            "dbos_system_schema": DBOS_SCHEMA,
            "application_version": APPLICATION_VERSION,
            "executor_id": "tests",
            "console_log_level": "CRITICAL",
        }
    )
    DBOS.launch()
    DBOS.destroy(destroy_registry=True)
    return database


@pytest.fixture
def address(database: str) -> str:
    with open_connection(database) as connection:
        connection.execute(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE".encode())
        make_tables(connection)
    return database


@pytest.fixture
def connection(address: str):
    with open_connection(address) as made:
        yield made


@pytest.fixture
def client(dbos_tables: str, address: str):
    made = open_client(address)
    yield made
    flows = made.list_workflows(load_input=False, load_output=False)
    if flows:
        made.delete_workflows([flow.workflow_id for flow in flows])
    made.destroy()
