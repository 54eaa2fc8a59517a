"""Exports of tasks as plain files, and their import."""
