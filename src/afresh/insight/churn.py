"""How often files changed, as the commits of a repository tell."""

from collections.abc import Callable, Iterator, Mapping

from afresh.domain.code import FileChurn
from afresh.domain.history import CommitHistory


class LazyChurn(Mapping[str, FileChurn]):
    """By path. The history, which git has to tell, is asked for when the first file is."""

    def __init__(self, history: Callable[[], CommitHistory]) -> None:
        self._history = history
        self._found: dict[str, FileChurn] | None = None

    def __getitem__(self, path: str) -> FileChurn:
        return self._all()[path]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

    def _all(self) -> dict[str, FileChurn]:
        if self._found is None:
            self._found = churn_from_history(self._history())
        return self._found


def churn_from_history(history: CommitHistory) -> dict[str, FileChurn]:
    found: dict[str, FileChurn] = {}
    for commit in history.commits:
        for path in commit.paths:
            before = found.get(path, FileChurn())
            found[path] = FileChurn(before.commits + 1, max(before.last, commit.when))
    return found
