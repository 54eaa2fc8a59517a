"""The parts of a task's state; `core/state.py` puts them together."""
