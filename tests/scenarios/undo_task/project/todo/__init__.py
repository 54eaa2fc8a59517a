"""A to-do list."""
