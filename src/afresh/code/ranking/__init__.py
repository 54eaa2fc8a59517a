"""Given a task's text and what it has touched: the files and symbols that matter, each with the reason why."""
