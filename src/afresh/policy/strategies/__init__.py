"""How the next call is chosen: step by step (react), or plan first (plan_execute)."""
