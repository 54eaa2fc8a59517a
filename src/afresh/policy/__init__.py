"""Decides what the next call is for: phases, strategies, stalls, supervision, questions."""
