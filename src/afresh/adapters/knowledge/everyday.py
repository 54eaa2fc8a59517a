"""Words that everybody uses, and words that are a project's own: what tells whether a line may leave it without a person."""

import os
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from afresh.adapters.workspace.git import GitFailed
from afresh.adapters.workspace.repository import Repository
from afresh.domain.plain import Own
from afresh.domain.words import stem

VOCABULARY = Path(__file__).with_name("vocabulary.txt")
FILES = 5_000
LARGEST = 1_000_000
ALL = 20_000_000
"""Of a project that has more, or a larger file of text, nobody can be sure, so nothing leaves it."""
OF_AFRESH = (".afresh/state/", ".afresh/knowledge/", ".afresh/export/")
"""Where the very lines stand that are asked about."""


@cache
def everyday() -> frozenset[str]:
    """Their stems. Made by scripts/vocabulary: words in comments and docstrings of eight or more modules of Python's standard
    library."""
    return frozenset(map(stem, VOCABULARY.read_text("utf-8").split()))


def own_words(repository: Repository, more: Iterable[tuple[str, str]] = ()) -> Own | None:
    """Of the checkout's files, of what git knows, and of `more`, by path and text. None when there is too much to be sure."""
    own, room, root = Own(), ALL, repository.root
    names = paths(repository)
    if len(names) > FILES:
        return None
    for name in names:
        text = readable(root / name)
        room -= len(text)
        if len(text) > LARGEST or room < 0:
            return None
        own.file(name, text)
    for path, text in more:
        own.file(path, text)
    own.name(root.name)
    for line in known_to_git(repository):
        own.name(line)
    return own


def paths(repository: Repository) -> list[str]:
    """Tracked and new files, and ignored ones that stand by themselves, as settings and keys do."""
    new = listed(repository, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    ignored = listed(repository, "ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory")
    found = [os.fsdecode(name) for name in (*new.split(b"\0"), *ignored.split(b"\0"))]
    return [name for name in dict.fromkeys(found) if name and not name.endswith("/") and not name.startswith(OF_AFRESH)]


def known_to_git(repository: Repository) -> list[str]:
    """Branches and tags but for those of tasks, which say what goals say; addresses of others; names of those who commit."""
    asked = (
        ("for-each-ref", "--format=%(refname:lstrip=2)"),
        ("config", "--get-regexp", r"^(remote\..*\.url|user\..*)$"),
        ("log", "-n", "1000", "--format=%an %cn %ae"),
    )
    lines = [line for one in asked for line in {*listed(repository, *one).decode("utf-8", "replace").splitlines()}]
    return [line for line in lines if not line.startswith("afresh/")]


def listed(repository: Repository, *arguments: str) -> bytes:
    try:
        return repository.git.run(*arguments)
    except GitFailed:
        return b""


def readable(path: Path) -> str:
    """Nothing of links, of what is no file, and of what is no text."""
    if path.is_symlink() or not path.is_file():
        return ""
    with path.open("rb") as file:
        data = file.read(LARGEST + 1)
    return "" if b"\0" in data else data.decode("utf-8", "replace")
