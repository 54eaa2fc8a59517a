"""Limits, prices, the ledger of a run, and reports."""
