"""Checks the work: baseline, checks, protected tests, regressions, keep or revert, completion."""
