"""Reads templates from YAML files, checks them and merges them; the more specific file wins."""
