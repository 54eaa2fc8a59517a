import re
from collections.abc import Iterable
from dataclasses import dataclass

PATH_PATTERN = r"(?:\./)?(?:\.?[\w@+-][\w.@+-]*/)*\.?[\w@+-][\w.@+-]*"
CITATION_PATTERN = re.compile(rf"(?<![\w./:@+-])({PATH_PATTERN})(?::|#L)(\d{{1,7}})(?:(?:-L?|–)(\d{{1,7}}))?")


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
