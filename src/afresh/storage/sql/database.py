"""What the shared SQL needs of a database, and where SQLite and PostgreSQL differ."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import wraps
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

    def executemany(self, statement: str, rows: Sequence[Sequence[Any]], /) -> object: ...


class SqlDatabase(Protocol):
    """Tables of one kind: those of a project, of its facts, of the user's ledger or notebook."""

    def reading(self) -> AbstractContextManager[SqlConnection]:
        """A consistent view for a few queries; within `writing` it sees what was written there."""
        ...

    def writing(self, payload: int = 0) -> AbstractContextManager[SqlConnection]:
        """One atomic, durable commit that no other writer comes between; nothing of it happens if the body raises. `payload`:
        about how many bytes it writes. Within another `writing` of this thread it is a part of that commit. What has to be made
        to hold the tables is made."""
        ...

    def is_there(self) -> bool:
        """Whether anything was written yet; asking makes nothing."""
        ...

    def repeat(self, work: Callable[[], T]) -> T:
        """Do this; again if the connection to a server was lost before anything of it was committed."""
        ...

    def close(self) -> None:
        """Give the connection back; the next use opens it again."""
        ...


class HasDatabase(Protocol):
    @property
    def _database(self) -> SqlDatabase: ...


def repeat_if_lost(method: Callable[Concatenate[S, P], T]) -> Callable[Concatenate[S, P], T]:
    """A method whose only effect is one transaction, so that it can be done again when that was lost."""

    @wraps(method)
    def repeated(self: S, *args: P.args, **named: P.kwargs) -> T:
        return self._database.repeat(lambda: method(self, *args, **named))

    return repeated


class WatchedDatabase(SqlDatabase, Protocol):
    def read_version(self) -> int:
        """A number that changes when another connection has committed; asking costs next to nothing."""
        ...


class ProjectionDatabase(SqlDatabase, Protocol):
    """A database that can be made again from others."""

    def discard(self) -> None:
        """Forget everything that is kept."""
        ...


class JournalDatabase(WatchedDatabase, Protocol):
    def encode_value(self, value: str | bytes) -> str | bytes:
        """A plain or compressed text as a column of either type takes it."""
        ...


class JournalChange(NamedTuple):
    """The last commit of any journal, in the order of commits."""

    identity: str
    """Of the database, since another one counts from the beginning."""
    number: int
