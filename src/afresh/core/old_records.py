"""What earlier versions recorded as text and later ones as values: read here and nowhere else."""

import re
from collections.abc import Callable

from afresh.core.context_item import Diff, Excerpt, Item, LineGap, MapEntry, Note, RepoMap, SourceLine

EXCERPT_SUBJECT = re.compile(r"(.+?):(\d+)-(\d+) (.*)", re.DOTALL)
SOURCE_LINE = re.compile(r"([+ ]) *(\d+) (.*)", re.DOTALL)
GAP_LINE = re.compile(r" +… (\d+)-(\d+) ?(.*)")
MAP_LINE = re.compile(r"(\S+) \((\d+) lines(?:; (.*?))?\)(?:: (.*))?")
Place = tuple[str, int, int, tuple[str, ...]]
"""A path, the first and the last line, and the names of what the lines define."""


def item_from_untyped(kind: str, subject: str, text: str) -> Item:
    """An item of a call that was recorded before items had types."""
    reader = READERS_BY_KIND.get(kind)
    return (reader(kind, subject, text) if reader else None) or Note(kind, subject, text)


def place_from_subject(subject: str) -> Place | None:
    found = EXCERPT_SUBJECT.fullmatch(subject)
    return (found[1], int(found[2]), int(found[3]), tuple(found[4].split(", ")) if found[4] else ()) if found else None


def _read_excerpt(kind: str, subject: str, text: str) -> Excerpt | None:
    place, lines, gaps = place_from_subject(subject), list[SourceLine](), list[LineGap]()
    for line in text.split("\n"):
        if found := SOURCE_LINE.fullmatch(line):
            lines.append(SourceLine(int(found[2]), found[3], found[1] == "+"))
        elif found := GAP_LINE.fullmatch(line):
            gaps.append(LineGap(int(found[1]), int(found[2]), (found[3],) if found[3] else ()))
        else:
            return None
    return Excerpt(kind, *place, tuple(lines), tuple(gaps)) if place else None


def _read_task_change(kind: str, subject: str, text: str) -> Diff:
    """Counted as it was then: a change without lines has -1 of each."""
    return Diff(kind, subject, text.count("\n+") - 1, text.count("\n-") - 1, text)


def _read_map(kind: str, subject: str, text: str) -> RepoMap:
    return RepoMap(tuple(map(_read_map_line, text.splitlines())))


def _read_map_line(line: str) -> MapEntry:
    found = MAP_LINE.fullmatch(line)
    if not found:
        return MapEntry(symbols=(line,))
    return MapEntry(found[1], int(found[2]), found[3] or "", (found[4],) if found[4] else ())


READERS_BY_KIND: dict[str, Callable[[str, str, str], Item | None]] = {
    "file": _read_excerpt,
    "beginning": _read_excerpt,
    "target": _read_excerpt,
    "similar": _read_excerpt,
    "fixture": _read_excerpt,
    "change": _read_task_change,
    "outline": _read_map,
}


REVERTED_INFIX = ": reverted: "


def find_reverted_action(outcome: str) -> str:
    """What was done in a step that was reverted; empty for any other."""
    did, reverted, _ = outcome.partition(REVERTED_INFIX)
    return did if reverted else ""


SUGGESTION_SUBJECT = re.compile(r"apply ([0-9a-f]{12})")


def find_suggestion_id(subject: str) -> str:
    """Of a failed approach that was recorded without the id of the suggestion that it took up."""
    found = SUGGESTION_SUBJECT.match(subject)
    return found[1] if found else ""
