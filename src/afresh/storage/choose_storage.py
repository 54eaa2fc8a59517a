"""Opens what is kept, where the user wants it: in files of the project and the user, or on a PostgreSQL server."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from socket import gethostname
from typing import TYPE_CHECKING

from afresh.config.settings_file import find_user_config, read_settings_key, read_settings_table
from afresh.errors import BadInput
from afresh.storage.sql.schema import JOURNAL_FILE_NAME, LEDGER_FILE_NAME
from afresh.storage.sqlite.database import Database

if TYPE_CHECKING:
    from afresh.ports.storage import Storage
    from afresh.ports.watch import Clock
    from afresh.storage.postgres.database import PostgresDatabase
    from afresh.storage.postgres.storage import PostgresProject
    from afresh.storage.sql.ledger import SqlLedger

STORE_VARIABLE = "AFRESH_STORE"
PROJECT_VARIABLE = "AFRESH_PROJECT"
PROJECT_GIT_SETTING = "afresh.project"
ADDRESS_BEGINNINGS = ("postgresql://", "postgres://")
KEY_FILE_NAME = "project-key"


def find_store_address() -> str:
    """The address of the user's PostgreSQL; empty if files are used. A repository can't set it."""
    address = os.environ.get(STORE_VARIABLE, "").strip() or read_settings_key(find_user_config(), "store").strip()
    if address and not address.startswith(ADDRESS_BEGINNINGS):
        raise BadInput(
            f"{STORE_VARIABLE} is not an address of a PostgreSQL server",
            next=f"write it as postgresql://USER@HOST:PORT/DATABASE; without {STORE_VARIABLE} files are used",
            safe="nothing was changed",
        )
    return address


def describe_store() -> str:
    """The user's PostgreSQL, its version, and how many projects it holds; empty if files are used."""
    if not (address := find_store_address()):
        return ""
    from afresh.storage.postgres.storage import describe_shared

    return describe_shared(address)


@dataclass(frozen=True, slots=True)
class ExportOptions:
    automatic: bool = True
    """Whether journals are copied to plain files with every commit, so that a lost database is no loss."""


def ignore_warning(text: str) -> None:
    """For callers that have nobody to warn: `afresh doctor` names the same."""


def open_storage(root: Path, user_folder: Path, clock: "Clock", warn: Callable[[str], None] = ignore_warning) -> "Storage":
    """Everything that is kept for the project whose checkout is `root`; its state folder is there."""
    if address := find_store_address():
        from afresh.storage.postgres.storage import open_postgres_storage

        return open_postgres_storage(address, identify_project(root), clock)
    from afresh.storage.sqlite.storage import open_sqlite_storage

    copies = read_settings_table(find_user_config(), "export", ExportOptions).automatic
    return open_sqlite_storage(root / ".afresh" / "state", user_folder, clock, warn if copies else None, lambda: make_state(root))


def make_state(root: Path) -> None:
    from afresh.workspace.repository import Repository, make_state_folder

    make_state_folder(Repository.find(root))


def open_journal_database(root: Path) -> "Database | PostgresDatabase":
    """Where the journal, queue and notebook of the project are."""
    if address := find_store_address():
        from afresh.storage.postgres.storage import open_project_database

        return open_project_database(address, identify_project(root))
    return Database(root / ".afresh" / "state" / JOURNAL_FILE_NAME, make_folder=lambda: make_state(root))


def open_ledger_database(user_folder: Path) -> "Database | PostgresDatabase":
    """Where the user's ledger is."""
    if address := find_store_address():
        from afresh.storage.postgres.storage import open_shared_database

        return open_shared_database(address)
    from afresh.storage.sql.schema import LEDGER_SCHEMA

    return Database(user_folder / LEDGER_FILE_NAME, schema=LEDGER_SCHEMA)


def open_ledger(user_folder: Path) -> "SqlLedger":
    if address := find_store_address():
        from afresh.storage.postgres.storage import open_postgres_ledger

        return open_postgres_ledger(address)
    from afresh.storage.sqlite.storage import open_sqlite_ledger

    return open_sqlite_ledger(user_folder / LEDGER_FILE_NAME)


def choose_lease_clock(database: "Database | PostgresDatabase", clock: "Clock") -> "Clock":
    """The clock that leases go by: the server's, where there is one."""
    if isinstance(database, Database):
        return clock
    from afresh.storage.postgres.database import ServerClock

    return ServerClock(database)


@lru_cache(maxsize=64)
def identify_project(root: Path) -> "PostgresProject":
    """The project as it is known on every machine: by what the user says, by its remote, or by a key in its state folder."""
    from afresh.storage.postgres.storage import PostgresProject
    from afresh.workspace.repository import locate_repository

    git = locate_repository(root).git
    remote = git.ask("config", "--get", "remote.origin.url")
    own = os.environ.get(PROJECT_VARIABLE, "").strip() or git.ask("config", "--get", PROJECT_GIT_SETTING)
    key = own or normalise_remote(remote) or _read_own_key(root / ".afresh" / "state")
    return PostgresProject(key, root.name, remove_credentials(remote))


def enter_project_again(root: Path) -> None:
    """Let the workers of a server know the project's name and remote as they are now."""
    if address := find_store_address():
        from afresh.storage.postgres.storage import SHARED_SCHEMA_NAME, enter_project

        enter_project(address, identify_project(root), SHARED_SCHEMA_NAME)


def find_shared_remote(root: Path) -> str:
    """The git remote that carries the work of tasks from one machine to another; empty if it stays on this one."""
    return identify_project(root).remote if find_store_address() else ""


def normalise_remote(address: str) -> str:
    """Host and path of a remote, without user, password, port and protocol, so that clones by https and ssh are one project.
    A folder has the name of this machine: the same path elsewhere is another one. Empty for a relative path."""
    scheme, with_scheme, rest = address.strip().partition("://")
    if with_scheme:
        server, _, path = rest.partition("/")
        host, _, port = server.rpartition("@")[2].rpartition(":")
        host = host if port.isdigit() else f"{host}:{port}".strip(":")
    else:
        server, _, path = scheme.partition(":")
        host, path = ("", scheme.removeprefix("/")) if "/" in server else (server.rpartition("@")[2], path)
    if not host and (with_scheme or scheme.startswith("/")):
        host = gethostname()
    path = path.partition("?")[0].partition("#")[0].strip("/").removesuffix(".git")
    return f"{host.lower()}/{path}" if host and path else ""


def remove_credentials(remote: str) -> str:
    """The remote as git can clone it, without a password; for http also without a user, which may be a token."""
    scheme, found, rest = remote.partition("://")
    server, slash, path = rest.partition("/")
    user, at, host = server.rpartition("@")
    if not found or not at:
        return remote
    kept = "" if scheme.lower() in ("http", "https") else f"{user.partition(':')[0]}@"
    return f"{scheme}://{kept}{host}{slash}{path}"


def _read_own_key(state: Path) -> str:
    """The key of a project without a remote; made at the first use."""
    place = state / KEY_FILE_NAME
    try:
        return place.read_text("utf-8").strip()
    except FileNotFoundError:
        from uuid import uuid4

        state.mkdir(mode=0o700, parents=True, exist_ok=True)
        new = state / f"{KEY_FILE_NAME}.{os.getpid()}"
        new.write_text(f"{uuid4()}\n", "utf-8")
        try:
            os.link(new, place)
        except FileExistsError:
            pass  # another process was faster: its key holds
        finally:
            new.unlink()
        return place.read_text("utf-8").strip()
