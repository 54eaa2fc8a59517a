"""Who calls whom in Python: scopes, names, types and class hierarchies, computed on demand."""
