"""What happens to memory outside any task: a person, or upkeep, writes it into the project's notebook. Each has its author."""

from dataclasses import dataclass

from afresh.domain.fact import Fact

NOTEBOOK_JOURNAL = "notebook"
USER_JOURNAL = "user"
"""What the journals are called that no task owns: the project's, and the user's own."""


@dataclass(frozen=True, slots=True)
class FactNoted:
    """Told to the project, or by its scope to all projects of the user."""

    fact: Fact
    by: str


@dataclass(frozen=True, slots=True)
class FactCorrected:
    """The fact reads so from now on; the old words stay in its history."""

    fact: str
    text: str
    by: str
    why: str = ""


@dataclass(frozen=True, slots=True)
class FactForgotten:
    """No later window shows it. That it was known, and who wanted it gone, stays in the history."""

    fact: str
    by: str
    why: str = ""


@dataclass(frozen=True, slots=True)
class LessonJudged:
    """A person's word on what a task has learnt: approved or rejected."""

    object: str
    standing: str
    by: str
