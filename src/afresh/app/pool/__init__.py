"""Several tasks of a repository at once, in a few processes."""
