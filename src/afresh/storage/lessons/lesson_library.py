"""What can be looked up: approved knowledge of the project, and the skills of a tree."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from afresh.core.context_item import Note
from afresh.core.lesson import (
    LESSON_HEADINGS,
    PATTERN_ID_PREFIX,
    Lesson,
    LessonStatus,
    day_from_text,
    get_heading_text,
    iso_from_time,
    render_lesson,
)
from afresh.core.lesson_match import score_match, subject_from_text, weigh_terms
from afresh.core.search_words import drop_stop_words, split_words, stem_word
from afresh.core.text import escape_hidden
from afresh.core.truncate import to_one_line
from afresh.ports.watch import Clock
from afresh.storage.lessons.agent_skills import AgentSkill, read_skills
from afresh.storage.lessons.lesson_folder import FileStamp, LessonFolder

if TYPE_CHECKING:
    from sqlite3 import Connection


MAX_CANDIDATES = 24
MAX_QUESTION_WORDS = 60
"""Of these many the fit is worked out; and of a long question these many words are asked for."""


class LessonIndex:
    """Documents by key: what they are about, their tags, their text. The rank is BM25, of the three in that order of weight."""

    def __init__(self) -> None:
        self._database: Connection | None = None
        self._stamps: dict[str, object] = {}

    def keep(self, stamps: Mapping[str, object], documents: Mapping[str, tuple[str, str, str]]) -> None:
        """What is gone or has another stamp goes; what is new comes in."""
        stale = [key for key, stamp in self._stamps.items() if stamps.get(key) != stamp]
        new = [key for key in stamps if key in stale or key not in self._stamps]
        if stale or new:
            rows = self._rows
            rows.executemany("DELETE FROM held WHERE key = ?", [(key,) for key in stale])
            texts = [(key, *[" ".join(split_index_words(text)) for text in documents[key]]) for key in new]
            rows.executemany("INSERT INTO held (key, head, tags, body) VALUES (?, ?, ?, ?)", texts)
        self._stamps = dict(stamps)

    def candidates(self, question: str) -> Sequence[str]:
        """Keys of documents with a word of the question, the best first."""
        asked = list(dict.fromkeys(split_index_words(question)))[:MAX_QUESTION_WORDS]
        if not asked or not self._stamps:
            return []
        query = " OR ".join(f'"{word}"' for word in asked)
        order = "SELECT key FROM held WHERE held MATCH ? ORDER BY bm25(held, 0, 4, 3, 1), key LIMIT ?"
        return [key for (key,) in self._rows.execute(order, (query, MAX_CANDIDATES))]

    @property
    def _rows(self) -> "Connection":
        if self._database is None:
            import sqlite3

            self._database = sqlite3.connect(":memory:", check_same_thread=False)
            tokens = "tokenize = 'unicode61 remove_diacritics 0'"
            self._database.execute(f"CREATE VIRTUAL TABLE held USING fts5(key UNINDEXED, head, tags, body, {tokens})")
        return self._database


def split_index_words(text: str) -> list[str]:
    return [stem_word(word) for word in drop_stop_words(split_words(text))]


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

    def find(self, questions: Sequence[str], most: int) -> Sequence[Note]:
        return [Note("knowledge", found.key, found.text) for found in self.ranked(questions)[:most]]

    def named(self, keys: Sequence[str]) -> Sequence[Note]:
        """Those of these that are still there, as they are now."""
        held = self._documents() if keys else {}
        return [Note("knowledge", key, held[key].text) for key in keys if key in held]

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


def is_pattern(id: str) -> bool:
    return id.startswith(PATTERN_ID_PREFIX)


def render_pattern(one: Lesson) -> str:
    """The pattern as a prompt shows it: that it comes from another project and when, never from which."""
    return f"{one.id} (pattern from another project, {one.created}){render_lesson(one).removeprefix(one.id)}"


class LibraryWithPatterns:
    """The project's own first. A pattern that was learnt here is not shown beside what it was made from."""

    def __init__(self, own: FolderLessonLibrary, home: LessonFolder, patterns: LessonFolder, clock: Clock) -> None:
        self._own, self._home, self._folder = own, home, patterns
        self._patterns = FolderLessonLibrary(patterns, None, clock, render_pattern)

    def stocked(self) -> bool:
        return self._own.stocked() or self._patterns.stocked()

    def find(self, questions: Sequence[str], most: int) -> Sequence[Note]:
        return [Note("knowledge", found.key, found.text) for found in self.ranked(questions)[:most]]

    def named(self, keys: Sequence[str]) -> Sequence[Note]:
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
