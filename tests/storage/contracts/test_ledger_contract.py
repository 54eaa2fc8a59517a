"""The contract of ledgers, held against the one on disk."""

from pathlib import Path

import pytest

from afresh.ports.storage import LedgerStore
from afresh.storage.sqlite.storage import open_sqlite_ledger
from support.ledger_contract import LedgerContract


class TestSqliteLedger(LedgerContract):
    @pytest.fixture
    def ledger(self, tmp_path: Path) -> LedgerStore:
        self.path = tmp_path / "user" / "ledger.db"
        return open_sqlite_ledger(self.path)

    def reopen(self, ledger: LedgerStore) -> LedgerStore:
        return open_sqlite_ledger(self.path)
