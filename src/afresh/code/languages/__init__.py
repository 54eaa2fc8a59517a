"""Readers of source files, one per language; `registry.py` describes what a reader provides."""
