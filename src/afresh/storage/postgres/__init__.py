"""Journal, queue, facts, notebooks and ledger in PostgreSQL: a schema for each project, and one that all projects share."""
