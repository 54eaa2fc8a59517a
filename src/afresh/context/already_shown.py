"""What other sections show already: lines of files by path and number, and lines of text."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from afresh.context.section import SectionPiece
from afresh.core.context_item import Excerpt, MapEntry, SourceLine, collect_line_numbers
from afresh.memory.history.names import find_names_and_implied

FILE_SHOWING_SECTIONS = ("files", "beginning", "target", "similar")
"""Sections whose excerpts make the map's word on a file needless."""


def find_fully_shown_files(listed: Iterable[MapEntry], pieces: Iterable[SectionPiece]) -> frozenset[str]:
    """Those of which no line is missing."""
    shown: dict[str, set[int]] = {}
    for piece in pieces:
        if isinstance(piece.item, Excerpt):
            shown.setdefault(piece.item.path, set()).update(collect_line_numbers(piece.lines))
    return frozenset(one.path for one in listed if one.length and len(shown.get(one.path, ())) >= one.length)


NUMBERED_PRINTED_LINE = re.compile(r"(?:[\w./-]+:)?[+ ]?\s*\d+(?:[:\t→-]| )\s*(\S.*)")
"""A line of a file that any tool printed, with its number before it."""


def collect_shown_lines(texts: Sequence[str], excerpts: Iterable[SectionPiece]) -> frozenset[str]:
    """Names and lines that the prompt shows; the lines of `excerpts` also as searches and printed files show them."""
    return frozenset[str]().union(*map(_collect_text_lines, texts), *map(_list_excerpt_hits, excerpts))


@lru_cache(maxsize=64)
def _collect_text_lines(text: str) -> frozenset[str]:
    """Most sections stay as they are from one prompt to the next."""
    lines = text.splitlines()
    bare = [line.strip() for line in lines]
    plain = [match[1] for line in lines if (match := NUMBERED_PRINTED_LINE.match(line))]
    return frozenset(bare).union(plain, *[find_names_and_implied(line)[1] for line in bare])


def _list_excerpt_hits(piece: SectionPiece) -> Iterator[str]:
    for line in piece.lines:
        if isinstance(line, SourceLine):
            number, code = line.number, line.text
            yield from (f"{number}: {code.strip()}", f"{piece.group}:{number}: {code.strip()}")
            yield from (
                f"{start}{number}{mark}{code}" for start, mark in ((f"{piece.group}:", ":"), ("", ":"), ("", "-"), ("", "\t"))
            )
