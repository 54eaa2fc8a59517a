"""Lessons, patterns and skills as Markdown files."""
