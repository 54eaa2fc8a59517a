"""Ranks the files and symbols that matter for a task's text, each with its reason."""
