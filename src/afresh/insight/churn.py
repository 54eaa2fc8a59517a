"""How often files changed, as the commits of a repository tell."""

from collections.abc import Callable, Iterator, Mapping

from afresh.domain.code import Churn
from afresh.domain.history import History


class Churned(Mapping[str, Churn]):
    """By path. The history, which git has to tell, is asked for when the first file is."""

    def __init__(self, history: Callable[[], History]) -> None:
        self._history = history
        self._found: dict[str, Churn] | None = None

    def __getitem__(self, path: str) -> Churn:
        return self._all()[path]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

    def _all(self) -> dict[str, Churn]:
        if self._found is None:
            self._found = churn_of(self._history())
        return self._found


def churn_of(history: History) -> dict[str, Churn]:
    found: dict[str, Churn] = {}
    for commit in history.commits:
        for path in commit.paths:
            before = found.get(path, Churn())
            found[path] = Churn(before.commits + 1, max(before.last, commit.when))
    return found
