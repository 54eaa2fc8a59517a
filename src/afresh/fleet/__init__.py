"""Workers on many machines: PostgreSQL holds the tasks, DBOS gives them out, git remotes carry the code."""
