"""Finds the command that runs a project's tests, and tries it in the sandbox before it is used."""
