"""Limits, reports and alerts of a run and of the user."""
