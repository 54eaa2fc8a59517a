"""One page a file: what it reads, what its buttons do, and its routes."""
