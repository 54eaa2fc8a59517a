"""Small coding tasks, done in two ways by the same model with the same tools, and judged by tests that neither has seen."""
