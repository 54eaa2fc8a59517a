"""The contract of ledgers, held against the one on disk."""

from pathlib import Path

import pytest

from afresh.ports.storage import LedgerStore
from afresh.storage.sqlite.ledger import SqliteLedger
from afresh.testing.ledger_contract import LedgerContract


class TestSqliteLedger(LedgerContract):
    @pytest.fixture
    def ledger(self, tmp_path: Path) -> LedgerStore:
        self.path = tmp_path / "user" / "ledger.db"
        return SqliteLedger(self.path)

    def reopen(self, ledger: LedgerStore) -> LedgerStore:
        return SqliteLedger(self.path)
