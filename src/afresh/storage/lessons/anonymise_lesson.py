"""What may leave a project without a person: lines of everyday words that name nothing of it. Whatever is in doubt stays."""

import keyword
import os
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path

from afresh.core.lesson import LESSON_HEADINGS, Lesson, get_heading_text
from afresh.core.lesson_match import GENERAL_WORDS
from afresh.core.search_words import STOP_WORDS, split_words, stem_word
from afresh.workspace.git import GitFailed
from afresh.workspace.repository import Repository

CHUNK_PATTERN = re.compile(r"\S+")
PROSE_WORD_PATTERN = re.compile(r"[A-Za-z]+(?:-[A-Za-z]+)*(?:n't|'(?:s|re|ll|ve|d|t))?")
"""A word of prose. Digits, quotes, dots and underscores inside it make it something else."""
CONTRACTION_ENDING = re.compile(r"(?:n't|'[a-z]+)$")
BULLET_PATTERN = re.compile(r"(?:(?<!\s)\s+)?[-*] ")
SENTENCE_ENDS = (".", "!", "?", ":")
DEFINED_NAME_PATTERN = re.compile(
    r"\b(?:def|class|function|func|fn|interface|struct|enum|trait|type|module|package|namespace|const|let|var|val)\s+(\w+)"
    r"|^[^\S\n]*+(?:export[^\S\n]++)?[\"']?([A-Za-z_][\w-]*)[\"']?\s*(?::(?!:)|=(?!=))",
    re.MULTILINE,
)
LETTERS_PATTERN = re.compile(r"[a-z]+")
PROPER_NAME_PATTERN = re.compile(r"(?<=[a-z,] )[A-Z][A-Za-z]+")
"""A capital inside a sentence: a proper name."""


@dataclass(slots=True)
class ProjectNames:
    """A project's own words, as roots: parts of its names, and pairs of neighbouring words in its files."""

    names: set[str] = field(default_factory=set[str])
    pairs: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])

    def name(self, text: str) -> None:
        self.names.update(map(strip_all_endings, split_words(text)))

    def file(self, path: str, text: str) -> None:
        self.name(path)
        for found in {
            *(found[1] or found[2] for found in DEFINED_NAME_PATTERN.finditer(text)),
            *PROPER_NAME_PATTERN.findall(text),
        }:
            self.name(found)
        for line in text.lower().splitlines():
            self.pairs.update(
                pairwise(strip_all_endings(word) for word in LETTERS_PATTERN.findall(line) if not is_common_word(word))
            )


@lru_cache(65_536)
def is_common_word(word: str) -> bool:
    """Whether a word is so common in programming that it reveals nothing, even as a name in the project."""
    return word in STOP_WORDS or stem_word(word) in GENERAL_WORDS or word in keyword.kwlist or len(word) == 1


@lru_cache(65_536)
def strip_all_endings(word: str) -> str:
    """The word without any ending: all forms of a name must be recognised, so more is cut off than for a search."""
    while (shorter := stem_word(word)) != word:
        word = shorter
    return word


def find_telltales(text: str, everyday: Collection[str], own: ProjectNames) -> list[str]:
    """What in a text names the project, or may: each once, in the order of the text. Empty: it may leave. `everyday`: stems of
    words that everybody uses."""
    return list(dict.fromkeys(found for line in text.splitlines() for found in find_line_telltales(line, everyday, own)))


def find_line_telltales(line: str, everyday: Collection[str], own: ProjectNames) -> Iterator[str]:
    before, opening = "", True
    for chunk in CHUNK_PATTERN.findall(BULLET_PATTERN.sub("", line, count=1)):
        bare = chunk.lstrip("(").rstrip(").,;:!?")
        words = words_from_chunk(bare, opening)
        if words is None or not all(
            is_common_word(word) or (stem_word(word) in everyday and strip_all_endings(word) not in own.names) for word in words
        ):
            yield bare or chunk
        for word in words or ():
            if not is_common_word(word):
                if (strip_all_endings(before), strip_all_endings(word)) in own.pairs:
                    yield f"{before} {word}"
                before = word
        opening = chunk.rstrip(")").endswith(SENTENCE_ENDS)


def words_from_chunk(bare: str, opening: bool) -> list[str] | None:
    """The words of a chunk, in small letters; None if it is not prose."""
    if not bare or bare in ("-", "–"):
        return []
    if not PROSE_WORD_PATTERN.fullmatch(bare):
        return None
    small = CONTRACTION_ENDING.sub("", bare.lower())
    capital = bare[1:] != bare[1:].lower() or (bare[0].isupper() and not opening)
    return None if capital and not is_common_word(small) else small.split("-")


def anonymise_lesson(one: Lesson, everyday: Collection[str], own: ProjectNames) -> Lesson | None:
    """The lines of an object that may leave; None unless its title and something that worked are among them."""

    def kept(text: str) -> str:
        return "\n".join(line for line in text.splitlines() if line.strip() and not find_telltales(line, everyday, own))

    parts = {title: kept(get_heading_text(one.body, title)) for title in LESSON_HEADINGS[:3]}
    if not one.title.strip() or find_telltales(one.title, everyday, own) or not parts["What worked"]:
        return None
    tags = tuple(tag for tag in one.tags if not find_telltales(tag, everyday, own))
    return replace(one, tags=tags, body=render_lesson_body(parts.items()))


def render_lesson_body(parts: Iterable[tuple[str, str]]) -> str:
    return "\n\n".join(f"## {title}\n{text}" for title, text in parts if text) + "\n"


VOCABULARY_FILE = Path(__file__).with_name("vocabulary.txt")
MAX_PROJECT_FILES = 5_000
MAX_FILE_CHARACTERS = 1_000_000
MAX_PROJECT_CHARACTERS = 20_000_000
"""Of a project that has more, or a larger file of text, nobody can be sure, so nothing leaves it."""
AFRESH_FOLDERS = (".afresh/state/", ".afresh/knowledge/", ".afresh/export/")
"""Folders of afresh itself: they hold the lines that are being checked."""


@cache
def load_everyday_stems() -> frozenset[str]:
    """Stems of everyday words. Made by scripts/vocabulary: words in comments and docstrings of eight or more modules of Python's
    standard library."""
    return frozenset(map(stem_word, VOCABULARY_FILE.read_text("utf-8").split()))


def collect_project_words(repository: Repository, more: Iterable[tuple[str, str]] = ()) -> ProjectNames | None:
    """The words of the checkout's files, of git, and of `more` (path and text). None if there is too much to read all of it."""
    own, room, root = ProjectNames(), MAX_PROJECT_CHARACTERS, repository.root
    names = list_project_files(repository)
    if len(names) > MAX_PROJECT_FILES:
        return None
    for name in names:
        text = read_text_file(root / name)
        room -= len(text)
        if len(text) > MAX_FILE_CHARACTERS or room < 0:
            return None
        own.file(name, text)
    for path, text in more:
        own.file(path, text)
    own.name(root.name)
    for line in list_git_names(repository):
        own.name(line)
    return own


def list_project_files(repository: Repository) -> list[str]:
    """Tracked and new files, and ignored single files such as settings and keys."""
    new = run_git_listing(repository, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    ignored = run_git_listing(repository, "ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory")
    found = [os.fsdecode(name) for name in (*new.split(b"\0"), *ignored.split(b"\0"))]
    return [name for name in dict.fromkeys(found) if name and not name.endswith("/") and not name.startswith(AFRESH_FOLDERS)]


def list_git_names(repository: Repository) -> list[str]:
    """Branches and tags but for those of tasks, which say what goals say; addresses of others; names of those who commit."""
    asked = (
        ("for-each-ref", "--format=%(refname:lstrip=2)"),
        ("config", "--get-regexp", r"^(remote\..*\.url|user\..*)$"),
        ("log", "-n", "1000", "--format=%an %cn %ae"),
    )
    lines = [line for one in asked for line in {*run_git_listing(repository, *one).decode("utf-8", "replace").splitlines()}]
    return [line for line in lines if not line.startswith("afresh/")]


def run_git_listing(repository: Repository, *arguments: str) -> bytes:
    try:
        return repository.git.run(*arguments)
    except GitFailed:
        return b""


def read_text_file(path: Path) -> str:
    """The text of a file; empty for a link, a folder or a binary file."""
    if path.is_symlink() or not path.is_file():
        return ""
    with path.open("rb") as file:
        data = file.read(MAX_FILE_CHARACTERS + 1)
    return "" if b"\0" in data else data.decode("utf-8", "replace")
