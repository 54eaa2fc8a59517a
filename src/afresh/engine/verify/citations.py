"""Places in the code that a document cites: does each exist? Pure: the tree comes in as names and a count of lines."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches

PATH_PATTERN = r"(?:\./)?(?:\.?[\w@+-][\w.@+-]*/)*\.?[\w@+-][\w.@+-]*"
CITATION_PATTERN = re.compile(rf"(?<![\w./:@+-])({PATH_PATTERN})(?::|#L)(\d{{1,7}})(?:(?:-L?|–)(\d{{1,7}}))?")
_QUOTED_PATH = re.compile(rf"`({PATH_PATTERN}/?)`(\s*\(new\b)?")
_CODE_FENCE = re.compile(r"^ {0,3}(```|~~~).*?^ {0,3}\1[^\n]*$", re.MULTILINE | re.DOTALL)
LineCounter = Callable[[str], int]
"""How many lines a file of the tree has."""


@dataclass(frozen=True, slots=True)
class Citation:
    path: str
    first: int
    last: int

    def __str__(self) -> str:
        return f"{self.path}:{self.first}" + (f"-{self.last}" if self.last != self.first else "")


def find_citations(text: str, paths: Iterable[str]) -> tuple[Citation, ...]:
    """Every `path:line`, once. What has no ending that a file of the tree has (a time, a port) is no citation."""
    known = frozenset(paths)
    endings = {path_ending_from_name(path) for path in known} - {""}
    found: dict[Citation, None] = {}
    for path, first, last in CITATION_PATTERN.findall(text):
        path = path.removeprefix("./")
        if path in known or path_ending_from_name(path) in endings:
            found[Citation(path, int(first), int(last or first))] = None
    return tuple(found)


def path_ending_from_name(path: str) -> str:
    stem, dot, last = path.rpartition("/")[2].rpartition(".")
    return last if dot and stem and not last.isdigit() else ""


def find_dead_citations(cited: Iterable[Citation], paths: Iterable[str], lines: LineCounter) -> Iterator[str]:
    """The citations that lead nowhere, and why."""
    known = frozenset(paths)
    for one in cited:
        if one.path not in known:
            yield f"{one} ({describe_missing_path(one.path, known)})"
        elif one.last > (count := lines(one.path)) or not 1 <= one.first <= one.last:
            yield f"{one} (the file has {count} lines)"


def find_absent_paths(text: str, paths: Iterable[str]) -> Iterator[str]:
    """Paths in backticks that do not exist and are nowhere marked `(new)`."""
    known = frozenset(paths)
    places = known | {"/".join(path.split("/")[:depth]) for path in known for depth in range(1, path.count("/") + 1)}
    endings = {path_ending_from_name(path) for path in known} - {""}
    named = [(path.removeprefix("./").rstrip("/"), bool(new)) for path, new in _QUOTED_PATH.findall(_CODE_FENCE.sub("", text))]
    new = {path for path, marked in named if marked}
    for path in dict.fromkeys(path for path, _ in named):
        speaks_of_file = "/" in path and (path_ending_from_name(path) in endings or path.split("/")[0] in places)
        if speaks_of_file and path not in places and not any(path == one or path.startswith(f"{one}/") for one in new):
            yield f"{path} ({describe_missing_path(path, known)})"


def describe_missing_path(path: str, known: frozenset[str]) -> str:
    name = path.rpartition("/")[2]
    same = sorted(other for other in known if other.rpartition("/")[2] == name)
    near = same or get_close_matches(path, sorted(known), n=1, cutoff=0.7)
    return "no such file" + (f"; is it {near[0]}?" if near else "")
