"""Changes of Python code that keep what it does: each worked out, applied in memory and checked before it is offered."""
