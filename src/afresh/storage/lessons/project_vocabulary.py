"""Words that everybody uses, and words that are a project's own: what tells whether a line may leave it without a person."""

import os
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from afresh.core.search_words import stem_word
from afresh.storage.lessons.anonymise_lesson import ProjectNames
from afresh.workspace.git import GitFailed
from afresh.workspace.repository import Repository

VOCABULARY_FILE = Path(__file__).with_name("vocabulary.txt")
MAX_PROJECT_FILES = 5_000
MAX_FILE_CHARACTERS = 1_000_000
MAX_PROJECT_CHARACTERS = 20_000_000
"""Of a project that has more, or a larger file of text, nobody can be sure, so nothing leaves it."""
AFRESH_FOLDERS = (".afresh/state/", ".afresh/knowledge/", ".afresh/export/")
"""Where the very lines stand that are asked about."""


@cache
def load_everyday_stems() -> frozenset[str]:
    """Their stems. Made by scripts/vocabulary: words in comments and docstrings of eight or more modules of Python's standard
    library."""
    return frozenset(map(stem_word, VOCABULARY_FILE.read_text("utf-8").split()))


def collect_project_words(repository: Repository, more: Iterable[tuple[str, str]] = ()) -> ProjectNames | None:
    """Of the checkout's files, of what git knows, and of `more`, by path and text. None when there is too much to be sure."""
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
    """Tracked and new files, and ignored ones that stand by themselves, as settings and keys do."""
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
    """Nothing of links, of what is no file, and of what is no text."""
    if path.is_symlink() or not path.is_file():
        return ""
    with path.open("rb") as file:
        data = file.read(MAX_FILE_CHARACTERS + 1)
    return "" if b"\0" in data else data.decode("utf-8", "replace")
