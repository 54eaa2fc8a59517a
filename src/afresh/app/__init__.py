"""Use cases that join the rooms; `compose.py` is where ports meet their implementations."""
