"""Chooses the lines of earlier steps that the next action is likely to need."""
