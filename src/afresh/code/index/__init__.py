"""The index of a tree: symbols, imports, identifiers and words of each file, stored by content hash."""
