"""Drafts lessons from finished tasks and finds those that match a new one."""
