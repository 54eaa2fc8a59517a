"""The contracts of storage, notebook and fact index, held against SQLite."""

from pathlib import Path

import pytest

from afresh.core.fact import USER_JOURNAL
from afresh.ports.storage import Notebook, Storage
from afresh.storage.sql.notebook import SqlNotebook
from afresh.storage.sqlite.database import Database
from afresh.storage.sqlite.storage import open_sqlite_storage
from support.fact_index_contract import FactIndexContract
from support.fakes import FakeClock
from support.storage_contract import NotebookContract, StorageContract


class OnDisk:
    @pytest.fixture
    def storage(self, tmp_path: Path) -> Storage:
        self.folder = tmp_path
        return self.open()

    def reopen(self, storage: Storage) -> Storage:
        return self.open()

    def open(self) -> Storage:
        return open_sqlite_storage(self.folder, self.folder / "user", FakeClock())


class TestSqliteStorage(OnDisk, StorageContract):
    pass


class TestSqliteFactIndex(OnDisk, FactIndexContract):
    pass


class TestSqliteNotebook(NotebookContract):
    @pytest.fixture
    def notebook(self, tmp_path: Path) -> Notebook:
        self.path = tmp_path / "folder" / "user.db"
        return SqlNotebook(Database(self.path), FakeClock(), USER_JOURNAL)

    def reopen(self, notebook: Notebook) -> Notebook:
        return SqlNotebook(Database(self.path), FakeClock(), USER_JOURNAL)
