"""Reads the reports of test runners, one file per runner."""
