"""Appends events to a task's journal: checkpoints and undo are events too."""
