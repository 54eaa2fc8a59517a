"""Detects steps without progress and decides on a warning, a new plan or a stop."""
