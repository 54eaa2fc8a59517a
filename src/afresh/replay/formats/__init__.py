"""Formats of recorded sessions, one file each: `knows` recognises a value, `read` turns values into runs."""
