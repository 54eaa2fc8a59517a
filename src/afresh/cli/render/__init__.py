"""Renders values for the terminal; contains no command logic."""
