"""What is known of a repository before the task: its commits."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CommitSummary:
    id: str
    day: str
    """When it was made, as `2024-05-01`."""
    subject: str
