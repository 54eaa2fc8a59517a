"""What the code index contributes to a prompt: target source, callers, tests, similar code, the map."""
