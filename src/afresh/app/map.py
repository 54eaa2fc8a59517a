"""A map of the user's checkout: what matters for a text, or at all, within a cap of tokens."""

from dataclasses import dataclass
from pathlib import Path

from afresh.adapters.workspace.history import read_commit_history
from afresh.adapters.workspace.repository import locate_repository
from afresh.app.code import find_indexed_checkout, refresh_checkout_code
from afresh.engine.tokens import EstimatingCounter
from afresh.errors import BadInput
from afresh.insight.ranking import RankingQuery, RankedMapFile, select_map_files, render_map_files


@dataclass(frozen=True, slots=True)
class CodeMap:
    about: str
    """The text that it was made for; empty for the code as a whole."""
    files: tuple[RankedMapFile, ...]
    text: str
    """As it would stand in a window."""
    tokens: int
    cap: int
    known: int
    """Files of code that there are."""
    commits: int
    """Commits of the history that were asked."""


def build_code_map(where: Path, about: str, cap: int) -> CodeMap:
    """Reads only: nothing is made in the repository."""
    repository, home, counter = locate_repository(where.resolve()), find_indexed_checkout(where), EstimatingCounter()
    code = refresh_checkout_code(home, home.files)
    if not code.files:
        raise BadInput(
            "there is no code here in a language that afresh reads",
            next="go to a repository with Python, TypeScript, JavaScript, Go, Rust, Java or C#",
        )
    past = read_commit_history(repository.git, repository.head, home.state)
    files = tuple(select_map_files(code, RankingQuery(about, (), past), cap, counter))
    text = render_map_files(files)
    return CodeMap(about, files, text, counter(text) if text else 0, cap, len(code.files), len(past.commits))
