"""Which files stand whole in a window: the map need not say again what is in them."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from afresh.context.section import ListedFile
from afresh.memory.history.names import find_names_and_implied

FILE_SHOWING_SECTIONS = ("files", "beginning", "target", "similar")
"""Sections that show lines of files under a line that names the file."""
SHOWN_LINE_NUMBER = re.compile(r"[+ ] *(\d+) ")
PLACE_HEADING = re.compile(r"(\S+):\d+-\d+ ")


def _map_shown_lines(texts: Iterable[str]) -> dict[str, set[int]]:
    """By file, the numbers of the lines that these sections show."""
    found: dict[str, set[int]] = {}
    for text in texts:
        path = ""
        for line in text.split("\n"):
            if number := SHOWN_LINE_NUMBER.match(line):
                found.setdefault(path, set()).add(int(number[1]))
            elif not line.startswith(" "):
                path = place[1] if (place := PLACE_HEADING.match(line)) else line
    return found


def find_fully_shown_files(listed: Iterable[ListedFile], texts: Iterable[str]) -> frozenset[str]:
    """Those of which no line is missing."""
    shown = _map_shown_lines(texts)
    return frozenset(one.path for one in listed if one.lines and len(shown.get(one.path, ())) >= one.lines)


NUMBERED_PRINTED_LINE = re.compile(r"(?:[\w./-]+:)?[+ ]?\s*\d+(?:[:\t→-]| )\s*(\S.*)")
EXCERPT_LINE = re.compile(r"[+ ]\s*(\d+) (.*)")
"""A line with its number before it, of any printed file; that number; a line that begins with it; and one under Files."""
FILES_HEADING = "## Files"


def collect_shown_lines(texts: Sequence[str]) -> frozenset[str]:
    """Names and lines that stand in the window already."""
    return frozenset[str]().union(*map(_collect_text_lines, texts))


@lru_cache(maxsize=64)
def _collect_text_lines(text: str) -> frozenset[str]:
    """Most sections stay as they are from one window to the next."""
    lines = text.splitlines()
    bare = [line.strip() for line in lines]
    plain = [match[1] for line in lines if (match := NUMBERED_PRINTED_LINE.match(line))]
    return frozenset(bare).union(
        plain,
        *[find_names_and_implied(line)[1] for line in bare],
        _list_excerpt_hits(lines) if text.startswith(FILES_HEADING) else (),
    )


def _list_excerpt_hits(lines: Sequence[str]) -> Iterator[str]:
    """The lines of excerpts as searches and printed files show them, with their numbers."""
    path = ""
    for line in lines:
        if match := EXCERPT_LINE.fullmatch(line):
            number, code = match[1], match[2]
            yield from (f"{number}: {code.strip()}", f"{path}:{number}: {code.strip()}")
            yield from (f"{start}{number}{mark}{code}" for start, mark in ((f"{path}:", ":"), ("", ":"), ("", "-"), ("", "\t")))
        elif not line.startswith(" "):
            path = line
