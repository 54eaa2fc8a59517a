"""What the shared SQL needs of a database, and what SQLite and PostgreSQL have in common."""

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import wraps
from threading import RLock
from typing import Any, Concatenate, NamedTuple, ParamSpec, Protocol, TypeVar

P = ParamSpec("P")
T = TypeVar("T")
S = TypeVar("S", bound="HasDatabase")


class SqlRows(Protocol):
    """The result of a statement."""

    @property
    def rowcount(self) -> int: ...

    def fetchone(self) -> Any: ...

    def fetchall(self) -> list[Any]: ...

    def __iter__(self) -> Iterator[Any]: ...


class SqlConnection(Protocol):
    """Placeholders are `?`. Rows are read before the next statement: PostgreSQL sends them all at once, so that what may be long
    is read in pages."""

    def execute(self, statement: str, values: Sequence[Any] = ..., /) -> SqlRows: ...

    def executemany(self, statement: str, rows: Iterable[Sequence[Any]], /) -> object: ...

    def close(self) -> None: ...


class SqlDatabase(ABC):
    """Tables of one kind: those of a project, of its facts, of the user's ledger or notebook. One connection per process, shared
    by its threads under a lock."""

    def __init__(self) -> None:
        self._begin_life()

    def _begin_life(self) -> None:
        self._process, self._lock = os.getpid(), RLock()
        self._connection: Any = None
        self._reading = self._writing = False
        self._logged = 0

    @contextmanager
    def reading(self) -> Iterator[SqlConnection]:
        """A consistent view for a few queries; within `writing` it sees what was written there."""
        with self._exclusive():
            if self._writing or self._reading:
                yield self._open()
                return
            connection = self._begin_reading()
            self._reading = True
            try:
                yield connection
            finally:
                self._reading = False
                self._roll_back(connection)

    @contextmanager
    def writing(self, payload: int = 0) -> Iterator[SqlConnection]:
        """One atomic, durable commit that no other writer comes between; nothing of it happens if the body raises. `payload`:
        about how many bytes it writes. Within another `writing` of this thread it is a part of that commit, which fails alone.
        What has to be made to hold the tables is made."""
        with self._exclusive():
            self._logged += payload
            if not self._writing:
                with self._commit() as connection:
                    yield connection
                return
            connection = self._open()
            connection.execute("SAVEPOINT part")
            try:
                yield connection
            except BaseException:
                if self._is_in_transaction(connection):
                    connection.execute("ROLLBACK TO SAVEPOINT part")
                raise
            connection.execute("RELEASE SAVEPOINT part")

    def close(self) -> None:
        """Give the connection back; the next use opens it again."""
        with self._lock:
            if self._connection and self._process == os.getpid():
                self._connection.close()
            self._connection = None

    @contextmanager
    def _exclusive(self) -> Iterator[None]:
        """Hold the session; errors of the driver are raised as ours."""
        if self._process != os.getpid():
            # A connection must not cross a fork, not even to be closed: it is left to the parent.
            _inherited_connections.append(self._connection)
            self._begin_life()
        with self._lock, self._translate_errors():
            yield

    @abstractmethod
    def _open(self) -> Any:
        """The connection, which is made if there is none."""

    @abstractmethod
    def _begin_reading(self) -> Any: ...

    @abstractmethod
    def _commit(self) -> AbstractContextManager[Any]: ...

    @abstractmethod
    def _roll_back(self, connection: Any) -> None: ...

    @abstractmethod
    def _is_in_transaction(self, connection: Any) -> bool: ...

    @abstractmethod
    def _translate_errors(self) -> AbstractContextManager[None]: ...

    @abstractmethod
    def is_there(self) -> bool:
        """Whether anything was written yet; asking makes nothing."""

    @abstractmethod
    def repeat(self, work: Callable[[], T]) -> T:
        """Do this; again if the connection to a server was lost before anything of it was committed."""

    @abstractmethod
    def discard(self) -> None:
        """Forget everything in tables that can be made again from others."""

    @abstractmethod
    def keep_changes(self) -> None:
        """Write such tables from now on, also in a process that only reads otherwise."""

    @abstractmethod
    def read_version(self) -> int:
        """A number that changes when another connection has committed; asking costs next to nothing."""

    @abstractmethod
    def encode_value(self, value: str | bytes) -> str | bytes:
        """A plain or compressed text as a column of either type takes it."""


_inherited_connections: list[Any] = []


class HasDatabase(Protocol):
    @property
    def _database(self) -> SqlDatabase: ...


def repeat_if_lost(method: Callable[Concatenate[S, P], T]) -> Callable[Concatenate[S, P], T]:
    """A method whose only effect is one transaction, so that it can be done again when that was lost."""

    @wraps(method)
    def repeated(self: S, *args: P.args, **named: P.kwargs) -> T:
        return self._database.repeat(lambda: method(self, *args, **named))

    return repeated


class JournalChange(NamedTuple):
    """The last commit of any journal, in the order of commits."""

    identity: str
    """Of the database, since another one counts from the beginning."""
    number: int
