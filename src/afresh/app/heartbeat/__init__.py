"""Heartbeats and schedules: what is due, what changed, who is told."""
