"""What earlier steps said, did and saw, kept so that a window can show the lines that the next action is likely to need."""

from afresh.domain.trace.entries import TraceEntry, TraceRow, LastSighting
from afresh.domain.trace.grow import EMPTY_TRACE, Trace, build_trace
from afresh.domain.trace.words import find_file_names, find_names_and_implied, list_implied_names, find_names

__all__ = [
    "EMPTY_TRACE",
    "TraceEntry",
    "TraceRow",
    "LastSighting",
    "Trace",
    "find_file_names",
    "find_names_and_implied",
    "list_implied_names",
    "find_names",
    "build_trace",
]
