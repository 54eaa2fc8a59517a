"""Which files stand whole in a window: the map need not say again what is in them."""

import re
from collections.abc import Iterable

from afresh.engine.draft import ListedFile

MAP_FILE_LINE = re.compile(r"^(\S+) \((\d+) lines\b", re.MULTILINE)
"""A file as the source tree tells of it."""
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
