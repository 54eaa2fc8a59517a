"""Which command runs a project's tests: found in the project's own files, and tried before it is believed."""

from afresh.insight.commands.candidates import Candidate, candidates
from afresh.insight.commands.trial import Trial, Tried, attempt

__all__ = ["Candidate", "Trial", "Tried", "attempt", "candidates"]
