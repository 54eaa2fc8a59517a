"""Small rewrites inside one function, one kind per file."""
