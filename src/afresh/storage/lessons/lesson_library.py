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
        """Update the index: drop missing and changed documents, add new ones."""
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
"""Least share of the best fit; lessons that fit less are left out."""
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
    """The words of its head and tags."""
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
        return [Note("knowledge", match.key, match.text) for match in self.ranked(questions)[:most]]

    def named(self, keys: Sequence[str]) -> Sequence[Note]:
        """The lessons with these keys as they are now; missing ones are left out."""
        documents = self._documents() if keys else {}
        return [Note("knowledge", key, documents[key].text) for key in keys if key in documents]

    def ranked(self, questions: Sequence[str]) -> list[LessonMatch]:
        """All that fit one of the questions, the best first."""
        documents = self._documents()
        if not documents:
            return []
        self._index.keep(
            {key: document.stamp for key, document in documents.items()},
            {key: (document.head, document.tags, document.body) for key, document in documents.items()},
        )
        everywhere, candidates = self._everywhere, [documents[key] for key in self._index.candidates("\n".join(questions))]
        asked = [weigh_terms(question, everywhere) for question in questions]
        about = {
            candidate.key: subject_from_text(f"{candidate.head}\n{candidate.tags}", candidate.body, everywhere)
            for candidate in candidates
        }
        fits = [(key, max(score_match(terms, what) for terms in asked)) for key, what in about.items()]
        proven = {
            key: value * (1 + FIT_BONUS_PER_SUCCESS * min(documents[key].successes, MAX_COUNTED_SUCCESSES))
            for key, value in fits
            if value
        }
        best = max(proven.values(), default=0.0)
        near = sorted(
            (key for key, value in proven.items() if value >= best * MIN_SHARE_OF_BEST_FIT), key=lambda key: (-proven[key], key)
        )
        return [LessonMatch(key, proven[key], documents[key].text) for key in near]

    def _documents(self) -> dict[str, LessonDocument]:
        today = day_from_text(iso_from_time(self._clock.now()))
        assert today, "a clock tells a day"
        documents, before = dict[str, LessonDocument](), self._known
        for lesson_file in self._folder.held():
            if (knowledge := lesson_file.read.knowledge) and knowledge.standing(today) is LessonStatus.APPROVED:
                old = before.get(knowledge.id)
                documents[knowledge.id] = (
                    old
                    if old and old.stamp == lesson_file.stamp
                    else document_from_lesson(knowledge, lesson_file.stamp, self._text(knowledge))
                )
        self._skills = {skill.path: skill for skill in read_skills(self._tree, self._skills)[0]} if self._tree else {}
        for knowledge in self._skills.values():
            old = before.get(knowledge.path)
            documents[knowledge.path] = old if old and old.stamp == knowledge.stamp else document_from_skill(knowledge)
        if documents.keys() != before.keys() or any(documents[key] is not before[key] for key in documents):
            self._everywhere = find_common_words(documents)
        self._known = documents
        return documents


def find_common_words(documents: Mapping[str, LessonDocument]) -> frozenset[str]:
    """Words that most documents have, once there are a few."""
    times = (
        Counter(word for document in documents.values() for word in document.words)
        if len(documents) >= MIN_DOCUMENTS_FOR_COMMON_WORDS
        else {}
    )
    return frozenset(word for word, count in times.items() if count * 2 > len(documents))


def document_from_lesson(lesson: Lesson, stamp: FileStamp, text: str) -> LessonDocument:
    problem = get_heading_text(lesson.body, LESSON_HEADINGS[0])
    rest = lesson.body if not problem else "\n".join(get_heading_text(lesson.body, title) for title in LESSON_HEADINGS[1:])
    head, tags = f"{lesson.title}\n{problem}", " ".join(lesson.tags)
    return LessonDocument(
        lesson.id, stamp, head, tags, rest, text, frozenset(split_index_words(f"{head}\n{tags}")), lesson.successes
    )


def document_from_skill(skill: AgentSkill) -> LessonDocument:
    """Only its description says whether it fits; the text is the repository's, under its path."""
    head, text = (
        f"{skill.name} {skill.description}",
        f"{skill.path} (skill {skill.name}): {to_one_line(skill.description, 200)}\n{skill.body}",
    )
    return LessonDocument(skill.path, skill.stamp, head, "", "", escape_hidden(text), frozenset(split_index_words(head)))


def is_pattern(id: str) -> bool:
    return id.startswith(PATTERN_ID_PREFIX)


def render_pattern(lesson: Lesson) -> str:
    """The pattern as a prompt shows it: that it comes from another project and when, never from which."""
    return f"{lesson.id} (pattern from another project, {lesson.created}){render_lesson(lesson).removeprefix(lesson.id)}"


class LibraryWithPatterns:
    """The project's own first. A pattern that was learnt here is not shown beside what it was made from."""

    def __init__(self, own: FolderLessonLibrary, home: LessonFolder, patterns: LessonFolder, clock: Clock) -> None:
        self._own, self._home, self._folder = own, home, patterns
        self._patterns = FolderLessonLibrary(patterns, None, clock, render_pattern)

    def stocked(self) -> bool:
        return self._own.stocked() or self._patterns.stocked()

    def find(self, questions: Sequence[str], most: int) -> Sequence[Note]:
        return [Note("knowledge", match.key, match.text) for match in self.ranked(questions)[:most]]

    def named(self, keys: Sequence[str]) -> Sequence[Note]:
        notes = {look.subject: look for look in (*self._own.named(keys), *self._patterns.named(keys))}
        return [notes[key] for key in keys if key in notes]

    def ranked(self, questions: Sequence[str]) -> list[LessonMatch]:
        """All that fit, the own ones first."""
        return [*self._own.ranked(questions), *self._foreign(questions)[:1]]

    def _foreign(self, questions: Sequence[str]) -> list[LessonMatch]:
        fitting = self._patterns.ranked(questions)
        if not fitting:
            return []
        known, here = self._folder.objects(), self._home.objects()
        return [match for match in fitting if known[match.key].source not in here]
