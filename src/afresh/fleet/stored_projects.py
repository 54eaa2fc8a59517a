"""The projects of a store, as workers need them: where their tasks wait, and where their code comes from."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec

from afresh.errors import NeedsPerson, suggest_extra
from afresh.ports.storage import TaskQueue
from afresh.ports.watch import Clock
from afresh.storage.choose_storage import STORE_VARIABLE, find_store_address
from afresh.storage.postgres.database import PostgresDatabase, ServerClock
from afresh.storage.postgres.storage import PostgresProject, open_project_database, open_shared_database
from afresh.storage.sql.queue import SqlQueue


def find_fleet_address() -> str:
    """The address of the store that a fleet works on; empty if tasks are kept in files. NeedsPerson if the extra is missing."""
    address = find_store_address()
    if address and not find_spec("dbos"):
        raise NeedsPerson(
            "workers on PostgreSQL need DBOS, which is not installed",
            next=f"{suggest_extra('postgres')}; or unset {STORE_VARIABLE}",
            safe="nothing was begun",
        )
    return address


@dataclass(frozen=True, slots=True)
class FleetProject:
    key: str
    name: str
    remote: str
    """Address of its git remote."""
    queue: TaskQueue


class StoredProjects:
    """The projects of a PostgreSQL that have a git remote; the others can only be worked on where they are. Connections are kept
    until `close`."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._shared = open_shared_database(address)
        self.clock: Clock = ServerClock(self._shared)
        self._databases = dict[str, PostgresDatabase]()

    def list_projects(self) -> Sequence[FleetProject]:
        with self._shared.reading() as connection:
            rows = connection.execute("SELECT key, name, remote FROM project WHERE remote != '' ORDER BY key").fetchall()
        known = [PostgresProject(key, name, remote) for key, name, remote in rows]
        return [FleetProject(project.key, project.name, project.remote, self._open_queue(project)) for project in known]

    def _open_queue(self, project: PostgresProject) -> TaskQueue:
        if project.key not in self._databases:
            self._databases[project.key] = open_project_database(self._address, project)
        return SqlQueue(self._databases[project.key], ServerClock(self._databases[project.key]))

    def close(self) -> None:
        for database in (self._shared, *self._databases.values()):
            database.close()


@contextmanager
def open_stored_projects(address: str) -> Iterator[StoredProjects]:
    opened = StoredProjects(address)
    try:
        yield opened
    finally:
        opened.close()
