"""The fingerprint: what is known about a project, in four levels."""
