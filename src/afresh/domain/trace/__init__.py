"""What earlier steps said, did and saw, kept so that a window can show the lines that the next action is likely to need."""

from afresh.domain.trace.entries import Entry, Row, Sighting
from afresh.domain.trace.grow import NOTHING, Trace, trace
from afresh.domain.trace.words import files, heard, implied, names

__all__ = ["NOTHING", "Entry", "Row", "Sighting", "Trace", "files", "heard", "implied", "names", "trace"]
