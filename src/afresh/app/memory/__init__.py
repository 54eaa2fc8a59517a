"""Lessons and facts, as people and finished tasks change them."""
