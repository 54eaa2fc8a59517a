"""What was learnt in other projects of the user: beside a project's own knowledge, one at most, and marked."""

from collections.abc import Sequence

from afresh.adapters.knowledge.folder import Folder
from afresh.adapters.knowledge.library import FolderLibrary, Found
from afresh.domain.fact import Look
from afresh.domain.knowledge import Knowledge, brief
from afresh.ports import Clock

MARK = "PT-"


def is_pattern(id: str) -> bool:
    return id.startswith(MARK)


def marked(one: Knowledge) -> str:
    """As a window shows it: that it is from elsewhere and since when, never from where."""
    head, _, rest = brief(one).partition("\n")
    return f"{head} (pattern from another project, {one.created})\n{rest}"


class PatternedLibrary:
    """The project's own first. A pattern that was learnt here is not shown beside what it was made from."""

    def __init__(self, own: FolderLibrary, home: Folder, patterns: Folder, clock: Clock) -> None:
        self._own, self._home, self._folder = own, home, patterns
        self._patterns = FolderLibrary(patterns, None, clock, marked)

    def stocked(self) -> bool:
        return self._own.stocked() or self._patterns.stocked()

    def find(self, question: str, most: int) -> Sequence[Look]:
        return [Look("knowledge", found.key, found.text) for found in self.ranked(question, most)]

    def named(self, keys: Sequence[str]) -> Sequence[Look]:
        held = {look.subject: look for look in (*self._own.named(keys), *self._patterns.named(keys))}
        return [held[key] for key in keys if key in held]

    def ranked(self, question: str, most: int = 0) -> list[Found]:
        """All that fit, the own ones first; with `most` no more than these."""
        found = self._own.ranked(question)
        if most and len(found) >= most:
            return found[:most]
        return [*found, *self._foreign(question)[:1]]

    def _foreign(self, question: str) -> list[Found]:
        fitting = self._patterns.ranked(question)
        if not fitting:
            return []
        known, here = self._folder.objects(), self._home.objects()
        return [one for one in fitting if known[one.key].source not in here]
