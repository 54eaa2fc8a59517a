"""What was learnt in other projects of the user: beside a project's own knowledge, one at most, and marked."""

from collections.abc import Sequence

from afresh.adapters.knowledge.folder import Folder
from afresh.adapters.knowledge.library import FolderLibrary, Found
from afresh.domain.fact import Look
from afresh.domain.knowledge import PATTERN, Knowledge, brief
from afresh.ports import Clock


def is_pattern(id: str) -> bool:
    return id.startswith(PATTERN)


def marked(one: Knowledge) -> str:
    """As a window shows it: that it is from elsewhere and since when, never from where."""
    return f"{one.id} (pattern from another project, {one.created}){brief(one).removeprefix(one.id)}"


class PatternedLibrary:
    """The project's own first. A pattern that was learnt here is not shown beside what it was made from."""

    def __init__(self, own: FolderLibrary, home: Folder, patterns: Folder, clock: Clock) -> None:
        self._own, self._home, self._folder = own, home, patterns
        self._patterns = FolderLibrary(patterns, None, clock, marked)

    def stocked(self) -> bool:
        return self._own.stocked() or self._patterns.stocked()

    def find(self, questions: Sequence[str], most: int) -> Sequence[Look]:
        return [Look("knowledge", found.key, found.text) for found in self.ranked(questions)[:most]]

    def named(self, keys: Sequence[str]) -> Sequence[Look]:
        held = {look.subject: look for look in (*self._own.named(keys), *self._patterns.named(keys))}
        return [held[key] for key in keys if key in held]

    def ranked(self, questions: Sequence[str]) -> list[Found]:
        """All that fit, the own ones first."""
        return [*self._own.ranked(questions), *self._foreign(questions)[:1]]

    def _foreign(self, questions: Sequence[str]) -> list[Found]:
        fitting = self._patterns.ranked(questions)
        if not fitting:
            return []
        known, here = self._folder.objects(), self._home.objects()
        return [one for one in fitting if known[one.key].source not in here]
