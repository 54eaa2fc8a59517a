"""Making room, cheapest first: in a window before its room is shared, and in memory between two steps."""
