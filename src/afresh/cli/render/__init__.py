"""Draws values on the terminal; no command logic."""
