"""What was learnt in other projects of the user: beside a project's own knowledge, one at most, and marked."""

from collections.abc import Sequence

from afresh.adapters.knowledge.folder import LessonFolder
from afresh.adapters.knowledge.library import FolderLessonLibrary, LessonMatch
from afresh.domain.fact import Item
from afresh.domain.knowledge import PATTERN_ID_PREFIX, Lesson, render_lesson
from afresh.ports import Clock


def is_pattern(id: str) -> bool:
    return id.startswith(PATTERN_ID_PREFIX)


def render_pattern(one: Lesson) -> str:
    """As a window shows it: that it is from elsewhere and since when, never from where."""
    return f"{one.id} (pattern from another project, {one.created}){render_lesson(one).removeprefix(one.id)}"


class LibraryWithPatterns:
    """The project's own first. A pattern that was learnt here is not shown beside what it was made from."""

    def __init__(self, own: FolderLessonLibrary, home: LessonFolder, patterns: LessonFolder, clock: Clock) -> None:
        self._own, self._home, self._folder = own, home, patterns
        self._patterns = FolderLessonLibrary(patterns, None, clock, render_pattern)

    def stocked(self) -> bool:
        return self._own.stocked() or self._patterns.stocked()

    def find(self, questions: Sequence[str], most: int) -> Sequence[Item]:
        return [Item("knowledge", found.key, found.text) for found in self.ranked(questions)[:most]]

    def named(self, keys: Sequence[str]) -> Sequence[Item]:
        held = {look.subject: look for look in (*self._own.named(keys), *self._patterns.named(keys))}
        return [held[key] for key in keys if key in held]

    def ranked(self, questions: Sequence[str]) -> list[LessonMatch]:
        """All that fit, the own ones first."""
        return [*self._own.ranked(questions), *self._foreign(questions)[:1]]

    def _foreign(self, questions: Sequence[str]) -> list[LessonMatch]:
        fitting = self._patterns.ranked(questions)
        if not fitting:
            return []
        known, here = self._folder.objects(), self._home.objects()
        return [one for one in fitting if known[one.key].source not in here]
