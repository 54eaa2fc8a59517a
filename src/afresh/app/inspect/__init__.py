"""Looks at what a task was sent and did, live or afterwards."""
