"""What can be looked up: approved knowledge of the project, and the skills of a tree."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from afresh.adapters.knowledge.folder import Folder, Stamp
from afresh.adapters.knowledge.index import Index, words
from afresh.adapters.knowledge.skills import Skill, skills
from afresh.domain.fact import Look
from afresh.domain.fit import fit, subject, terms
from afresh.domain.knowledge import PARTS, Knowledge, Standing, brief, day_of, moment, part
from afresh.domain.text import one_line, visible
from afresh.ports import Clock

FEW = 6
"""Documents below which nothing can be said of words that most of them have."""
BESIDE = 0.5
"""Of the best one's fit: what is further off is not shown beside it."""
PROVEN = 0.1
MOST_PROVEN = 3
"""What each success adds to a fit, and how many count."""


@dataclass(frozen=True, slots=True)
class Document:
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
class Found:
    key: str
    fit: float
    text: str


class FolderLibrary:
    """Looks at the folders anew each time; what has not changed is not read again. Without a tree there are no skills."""

    def __init__(self, folder: Folder, tree: Path | None, clock: Clock, text: Callable[[Knowledge], str] = brief) -> None:
        self._folder, self._tree, self._clock, self._text = folder, tree, clock, text
        self._index = Index()
        self._known: dict[str, Document] = {}
        self._skills: dict[str, Skill] = {}
        self._everywhere = frozenset[str]()

    def stocked(self) -> bool:
        return bool(self._documents())

    def find(self, questions: Sequence[str], most: int) -> Sequence[Look]:
        return [Look("knowledge", found.key, found.text) for found in self.ranked(questions)[:most]]

    def named(self, keys: Sequence[str]) -> Sequence[Look]:
        """Those of these that are still there, as they are now."""
        held = self._documents() if keys else {}
        return [Look("knowledge", key, held[key].text) for key in keys if key in held]

    def ranked(self, questions: Sequence[str]) -> list[Found]:
        """All that fit one of the questions, the best first."""
        held = self._documents()
        if not held:
            return []
        self._index.keep(
            {key: one.stamp for key, one in held.items()}, {key: (one.head, one.tags, one.body) for key, one in held.items()}
        )
        everywhere, candidates = self._everywhere, [held[key] for key in self._index.candidates("\n".join(questions))]
        asked = [terms(question, everywhere) for question in questions]
        about = {one.key: subject(f"{one.head}\n{one.tags}", one.body, everywhere) for one in candidates}
        fits = [(key, max(fit(one, what) for one in asked)) for key, what in about.items()]
        proven = {key: value * (1 + PROVEN * min(held[key].successes, MOST_PROVEN)) for key, value in fits if value}
        best = max(proven.values(), default=0.0)
        near = sorted((key for key, value in proven.items() if value >= best * BESIDE), key=lambda key: (-proven[key], key))
        return [Found(key, proven[key], held[key].text) for key in near]

    def _documents(self) -> dict[str, Document]:
        today = day_of(moment(self._clock.now()))
        assert today, "a clock tells a day"
        found, before = dict[str, Document](), self._known
        for held in self._folder.held():
            if (one := held.read.knowledge) and one.standing(today) is Standing.APPROVED:
                old = before.get(one.id)
                found[one.id] = old if old and old.stamp == held.stamp else known(one, held.stamp, self._text(one))
        self._skills = {one.path: one for one in skills(self._tree, self._skills)[0]} if self._tree else {}
        for one in self._skills.values():
            old = before.get(one.path)
            found[one.path] = old if old and old.stamp == one.stamp else skilled(one)
        if found.keys() != before.keys() or any(found[key] is not before[key] for key in found):
            self._everywhere = common(found)
        self._known = found
        return found


def common(held: Mapping[str, Document]) -> frozenset[str]:
    """Words that most documents have, once there are a few."""
    times = Counter(word for one in held.values() for word in one.words) if len(held) >= FEW else {}
    return frozenset(word for word, count in times.items() if count * 2 > len(held))


def known(one: Knowledge, stamp: Stamp, text: str) -> Document:
    problem = part(one.body, PARTS[0])
    rest = one.body if not problem else "\n".join(part(one.body, title) for title in PARTS[1:])
    head, tags = f"{one.title}\n{problem}", " ".join(one.tags)
    return Document(one.id, stamp, head, tags, rest, text, frozenset(words(f"{head}\n{tags}")), one.successes)


def skilled(one: Skill) -> Document:
    """Only its description says whether it fits; the text is the repository's, under its path."""
    head, text = f"{one.name} {one.description}", f"{one.path} (skill {one.name}): {one_line(one.description, 200)}\n{one.body}"
    return Document(one.path, one.stamp, head, "", "", visible(text), frozenset(words(head)))
