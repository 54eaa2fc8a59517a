"""OpenTelemetry: spans of a run. Nothing here is imported unless the user wants it."""
