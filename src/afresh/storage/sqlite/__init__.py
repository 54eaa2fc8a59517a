"""Journal, queue, facts, notebooks, ledger and code index in SQLite."""
