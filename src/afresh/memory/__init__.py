"""What a task remembers: facts, corrections, lessons, and which passages of its history to keep."""
