"""What a call is sent: gather items, share the ceiling, build the prompt, and rebuild recorded calls."""
