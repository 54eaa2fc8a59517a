"""Orders before a task exists: what to do, its checks, what it begins with."""
