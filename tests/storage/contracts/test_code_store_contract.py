"""The contract of stores for code, held against the one on disk and the one in memory."""

from pathlib import Path

import pytest

from afresh.code.index.update_index import MemoryCodeStore
from afresh.storage.sqlite.code_index import SqliteCodeIndex
from support.code_store_contract import CodeStoreContract


class TestSqliteCode(CodeStoreContract):
    @pytest.fixture
    def store(self, tmp_path: Path) -> SqliteCodeIndex:
        return SqliteCodeIndex(tmp_path / "code.db")


class TestHeldCode(CodeStoreContract):
    @pytest.fixture
    def store(self) -> MemoryCodeStore:
        return MemoryCodeStore()
