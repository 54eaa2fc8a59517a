"""What may leave a project without a person: lines of everyday words that name nothing of it. Whatever is in doubt stays."""

import keyword
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import pairwise

from afresh.domain.fit import GENERAL
from afresh.domain.knowledge import PARTS, Knowledge, part
from afresh.domain.words import STOP_WORDS, split, stem

CHUNK = re.compile(r"\S+")
WORD = re.compile(r"[A-Za-z]+(?:-[A-Za-z]+)*(?:n't|'(?:s|re|ll|ve|d|t))?")
"""A word of prose. Digits, quotes, dots and underscores inside it make it something else."""
ENDINGS = re.compile(r"(?:n't|'[a-z]+)$")
BULLET = re.compile(r"\s*[-*] ")
SENTENCE_ENDS = (".", "!", "?", ":")
DEFINED = re.compile(
    r"\b(?:def|class|function|func|fn|interface|struct|enum|trait|type|module|package|namespace|const|let|var|val)\s+(\w+)"
    r"|^\s*(?:export\s+)?[\"']?([A-Za-z_][\w-]*)[\"']?\s*(?::(?!:)|=(?!=))",
    re.MULTILINE,
)
LETTERS = re.compile(r"[a-z]+")
PROPER = re.compile(r"(?<=[a-z,] )[A-Z][A-Za-z]+")
"""A capital inside a sentence: a name of somebody or something."""


@dataclass(slots=True)
class Own:
    """What a project calls its own, as roots: words of its names, and words that stand side by side in its files."""

    names: set[str] = field(default_factory=set[str])
    pairs: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])

    def name(self, text: str) -> None:
        self.names.update(map(root, split(text)))

    def file(self, path: str, text: str) -> None:
        self.name(path)
        for found in {*(found[1] or found[2] for found in DEFINED.finditer(text)), *PROPER.findall(text)}:
            self.name(found)
        for line in text.lower().splitlines():
            self.pairs.update(pairwise(root(word) for word in LETTERS.findall(line) if not core(word)))


@lru_cache(65_536)
def core(word: str) -> bool:
    """So common in talk of programs that it tells nothing, whatever a project calls so."""
    return word in STOP_WORDS or stem(word) in GENERAL or word in keyword.kwlist or len(word) == 1


@lru_cache(65_536)
def root(word: str) -> str:
    """Without any ending: of a name all forms must be known, so here more is cut off than where words are looked up."""
    while (shorter := stem(word)) != word:
        word = shorter
    return word


def telltales(text: str, everyday: Collection[str], own: Own) -> list[str]:
    """What in a text names the project, or may: each once, in the order of the text. Empty: it may leave. `everyday`: stems of
    words that everybody uses."""
    return list(dict.fromkeys(found for line in text.splitlines() for found in told(line, everyday, own)))


def told(line: str, everyday: Collection[str], own: Own) -> Iterator[str]:
    before, opening = "", True
    for chunk in CHUNK.findall(BULLET.sub("", line, count=1)):
        bare = chunk.lstrip("(").rstrip(").,;:!?")
        words = spoken(bare, opening)
        if words is None or not all(core(word) or (stem(word) in everyday and root(word) not in own.names) for word in words):
            yield bare or chunk
        for word in words or ():
            if not core(word):
                if (root(before), root(word)) in own.pairs:
                    yield f"{before} {word}"
                before = word
        opening = chunk.rstrip(")").endswith(SENTENCE_ENDS)


def spoken(bare: str, opening: bool) -> list[str] | None:
    """The words of a piece between spaces, in small letters; None when it is no prose."""
    if not bare or bare in ("-", "–"):
        return []
    if not WORD.fullmatch(bare):
        return None
    small = ENDINGS.sub("", bare.lower())
    capital = bare[1:] != bare[1:].lower() or (bare[0].isupper() and not opening)
    return None if capital and not core(small) else small.split("-")


def plain_part(one: Knowledge, everyday: Collection[str], own: Own) -> Knowledge | None:
    """The lines of an object that may leave; None unless its title and something that worked are among them."""

    def kept(text: str) -> str:
        return "\n".join(line for line in text.splitlines() if line.strip() and not telltales(line, everyday, own))

    parts = {title: kept(part(one.body, title)) for title in PARTS[:3]}
    if not one.title.strip() or telltales(one.title, everyday, own) or not parts["What worked"]:
        return None
    tags = tuple(tag for tag in one.tags if not telltales(tag, everyday, own))
    return replace(one, tags=tags, body=bodied(parts.items()))


def bodied(parts: Iterable[tuple[str, str]]) -> str:
    return "\n\n".join(f"## {title}\n{text}" for title, text in parts if text) + "\n"
