"""Notices that something was written to the store of a project, or said by a worker, by any process."""

from pathlib import Path

from afresh.app.queue.read_tasks import find_user_folder
from afresh.app.service.start_worker import LOG_FOLDER_NAME
from afresh.storage.choose_storage import open_journal_database, open_ledger_database
from afresh.storage.sql.database import SqlDatabase


class StoreWatch:
    """Has connections of its own: a database tells a connection of the commits of all others, for the price of a look."""

    def __init__(self, root: Path) -> None:
        self._databases: tuple[SqlDatabase, ...] = (open_journal_database(root), open_ledger_database(find_user_folder()))
        self._logs = root / ".afresh" / "state" / LOG_FOLDER_NAME
        self._versions = self._read_versions()

    def has_changed(self) -> bool:
        """Return whether anything was committed or said since the last time that this was asked."""
        before, self._versions = self._versions, self._read_versions()
        return self._versions != before

    def close(self) -> None:
        for database in self._databases:
            database.close()

    def _read_versions(self) -> list[int]:
        return [self._read_log_time(), *(self._read_version(database) for database in self._databases)]

    def _read_log_time(self) -> int:
        try:
            return max((log.lstat().st_mtime_ns for log in self._logs.glob("*.log")), default=0)
        except FileNotFoundError:  # removed meanwhile: that is a change, too
            return -1

    def _read_version(self, database: SqlDatabase) -> int:
        return database.read_version() if database.is_there() else 0
