"""A map of the user's checkout: what matters for a text, or at all, within a cap of tokens."""

from dataclasses import dataclass
from pathlib import Path

from afresh.adapters.workspace.history import history
from afresh.adapters.workspace.repository import located
from afresh.app.code import home_of, view
from afresh.engine.tokens import Counter
from afresh.errors import BadInput
from afresh.insight.ranking import Question, Shown, chosen, written


@dataclass(frozen=True, slots=True)
class Map:
    about: str
    """The text that it was made for; empty for the code as a whole."""
    files: tuple[Shown, ...]
    text: str
    """As it would stand in a window."""
    tokens: int
    cap: int
    known: int
    """Files of code that there are."""
    commits: int
    """Commits of the history that were asked."""


def map_for(where: Path, about: str, cap: int) -> Map:
    """Reads only: nothing is made in the repository."""
    repository, home, counter = located(where.resolve()), home_of(where), Counter()
    code = view(home, home.files)
    if not code.files:
        raise BadInput(
            "there is no code here in a language that afresh reads",
            next="go to a repository with Python, TypeScript, JavaScript, Go, Rust, Java or C#",
        )
    past = history(repository.git, repository.head, home.state)
    files = tuple(chosen(code, Question(about, (), past), cap, counter))
    text = written(files)
    return Map(about, files, text, counter(text) if text else 0, cap, len(code.files), len(past.commits))
