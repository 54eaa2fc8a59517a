"""The command line: one command per file, listed in `main.py`."""
