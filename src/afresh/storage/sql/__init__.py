"""Journal, queue, notebook, ledger and facts in SQL that SQLite and PostgreSQL both understand."""
