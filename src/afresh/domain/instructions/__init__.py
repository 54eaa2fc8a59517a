"""Instructions of people: files taken apart into rules and sections, and laid over each other."""

from afresh.domain.instructions.merge import Chain, Overruled, merged
from afresh.domain.instructions.source import RULES, Level, Line, Part, Source
from afresh.domain.instructions.split import rule, split

__all__ = ["RULES", "Chain", "Level", "Line", "Overruled", "Part", "Source", "merged", "rule", "split"]
