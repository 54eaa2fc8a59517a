"""Which command runs a project's tests: found in the project's own files, and tried before it is believed."""

from afresh.insight.commands.candidates import CommandCandidate, find_candidates
from afresh.insight.commands.trial import CommandTrial, TrialResults, try_candidates

__all__ = ["CommandCandidate", "CommandTrial", "TrialResults", "try_candidates", "find_candidates"]
