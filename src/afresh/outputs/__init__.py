"""Reads what commands print: test reports, diagnostics, tracebacks, git."""
