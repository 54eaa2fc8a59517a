"""Fakes, contract suites and a local model server, also for adapters outside this project."""
