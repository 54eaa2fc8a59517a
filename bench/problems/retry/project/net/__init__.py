"""A small client."""
