"""Learns from recorded work which context policy is better, proves it by replay, and keeps a way back."""
