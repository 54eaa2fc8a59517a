"""Reads AGENT.md, CLAUDE.md and similar files, and decides which lines apply to a task."""
