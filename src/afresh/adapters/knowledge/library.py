"""What can be looked up: approved knowledge of the project, and the skills of a tree."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from afresh.adapters.knowledge.folder import LessonFolder, FileStamp
from afresh.adapters.knowledge.index import LessonIndex, split_index_words
from afresh.adapters.knowledge.skills import AgentSkill, read_skills
from afresh.domain.fact import Item
from afresh.domain.fit import score_match, subject_from_text, weigh_terms
from afresh.domain.knowledge import (
    LESSON_HEADINGS,
    Lesson,
    LessonStatus,
    render_lesson,
    day_from_text,
    iso_from_time,
    get_heading_text,
)
from afresh.domain.text import to_one_line, escape_hidden
from afresh.ports import Clock

MIN_DOCUMENTS_FOR_COMMON_WORDS = 6
"""Documents below which nothing can be said of words that most of them have."""
MIN_SHARE_OF_BEST_FIT = 0.5
"""Of the best one's fit: what is further off is not shown beside it."""
FIT_BONUS_PER_SUCCESS = 0.1
MAX_COUNTED_SUCCESSES = 3
"""What each success adds to a fit, and how many count."""


@dataclass(frozen=True, slots=True)
class LessonDocument:
    key: str
    stamp: tuple[object, ...]
    head: str
    tags: str
    body: str
    text: str
    words: frozenset[str]
    """Of its head and tags."""
    successes: int = 0


@dataclass(frozen=True, slots=True)
class LessonMatch:
    key: str
    fit: float
    text: str


class FolderLessonLibrary:
    """Looks at the folders anew each time; what has not changed is not read again. Without a tree there are no skills."""

    def __init__(
        self, folder: LessonFolder, tree: Path | None, clock: Clock, text: Callable[[Lesson], str] = render_lesson
    ) -> None:
        self._folder, self._tree, self._clock, self._text = folder, tree, clock, text
        self._index = LessonIndex()
        self._known: dict[str, LessonDocument] = {}
        self._skills: dict[str, AgentSkill] = {}
        self._everywhere = frozenset[str]()

    def stocked(self) -> bool:
        return bool(self._documents())

    def find(self, questions: Sequence[str], most: int) -> Sequence[Item]:
        return [Item("knowledge", found.key, found.text) for found in self.ranked(questions)[:most]]

    def named(self, keys: Sequence[str]) -> Sequence[Item]:
        """Those of these that are still there, as they are now."""
        held = self._documents() if keys else {}
        return [Item("knowledge", key, held[key].text) for key in keys if key in held]

    def ranked(self, questions: Sequence[str]) -> list[LessonMatch]:
        """All that fit one of the questions, the best first."""
        held = self._documents()
        if not held:
            return []
        self._index.keep(
            {key: one.stamp for key, one in held.items()}, {key: (one.head, one.tags, one.body) for key, one in held.items()}
        )
        everywhere, candidates = self._everywhere, [held[key] for key in self._index.candidates("\n".join(questions))]
        asked = [weigh_terms(question, everywhere) for question in questions]
        about = {one.key: subject_from_text(f"{one.head}\n{one.tags}", one.body, everywhere) for one in candidates}
        fits = [(key, max(score_match(one, what) for one in asked)) for key, what in about.items()]
        proven = {
            key: value * (1 + FIT_BONUS_PER_SUCCESS * min(held[key].successes, MAX_COUNTED_SUCCESSES))
            for key, value in fits
            if value
        }
        best = max(proven.values(), default=0.0)
        near = sorted(
            (key for key, value in proven.items() if value >= best * MIN_SHARE_OF_BEST_FIT), key=lambda key: (-proven[key], key)
        )
        return [LessonMatch(key, proven[key], held[key].text) for key in near]

    def _documents(self) -> dict[str, LessonDocument]:
        today = day_from_text(iso_from_time(self._clock.now()))
        assert today, "a clock tells a day"
        found, before = dict[str, LessonDocument](), self._known
        for held in self._folder.held():
            if (one := held.read.knowledge) and one.standing(today) is LessonStatus.APPROVED:
                old = before.get(one.id)
                found[one.id] = old if old and old.stamp == held.stamp else document_from_lesson(one, held.stamp, self._text(one))
        self._skills = {one.path: one for one in read_skills(self._tree, self._skills)[0]} if self._tree else {}
        for one in self._skills.values():
            old = before.get(one.path)
            found[one.path] = old if old and old.stamp == one.stamp else document_from_skill(one)
        if found.keys() != before.keys() or any(found[key] is not before[key] for key in found):
            self._everywhere = find_common_words(found)
        self._known = found
        return found


def find_common_words(held: Mapping[str, LessonDocument]) -> frozenset[str]:
    """Words that most documents have, once there are a few."""
    times = Counter(word for one in held.values() for word in one.words) if len(held) >= MIN_DOCUMENTS_FOR_COMMON_WORDS else {}
    return frozenset(word for word, count in times.items() if count * 2 > len(held))


def document_from_lesson(one: Lesson, stamp: FileStamp, text: str) -> LessonDocument:
    problem = get_heading_text(one.body, LESSON_HEADINGS[0])
    rest = one.body if not problem else "\n".join(get_heading_text(one.body, title) for title in LESSON_HEADINGS[1:])
    head, tags = f"{one.title}\n{problem}", " ".join(one.tags)
    return LessonDocument(one.id, stamp, head, tags, rest, text, frozenset(split_index_words(f"{head}\n{tags}")), one.successes)


def document_from_skill(one: AgentSkill) -> LessonDocument:
    """Only its description says whether it fits; the text is the repository's, under its path."""
    head, text = (
        f"{one.name} {one.description}",
        f"{one.path} (skill {one.name}): {to_one_line(one.description, 200)}\n{one.body}",
    )
    return LessonDocument(one.path, one.stamp, head, "", "", escape_hidden(text), frozenset(split_index_words(head)))
