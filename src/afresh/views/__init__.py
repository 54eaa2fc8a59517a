"""Plain data and files derived from the state, for terminal, JSON and people."""
