"""Lists of tasks that people write: Markdown checklists and JSON."""
