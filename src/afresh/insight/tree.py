"""The Python files of a tree, parsed once for each text."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from afresh.domain.paths import is_test
from afresh.errors import AfreshError
from afresh.insight.source import LARGEST, Source, parse
from afresh.ports import Files


@dataclass(frozen=True, slots=True)
class Tree:
    paths: tuple[str, ...]
    sources: dict[str, Source]
    skipped: dict[str, str]
    """Python files that were not understood, with the reason."""

    @property
    def code(self) -> list[Source]:
        return [source for path, source in self.sources.items() if not is_test(path)]


@dataclass(slots=True)
class Reader:
    """Remembers what it parsed: an unchanged file costs one read and one comparison."""

    _known: dict[str, tuple[str, Source | None]] = field(default_factory=dict[str, tuple[str, Source | None]])

    def tree(self, files: Files) -> Tree:
        paths = tuple(files.paths())
        sources: dict[str, Source] = {}
        skipped: dict[str, str] = {}
        for path in paths:
            if not path.endswith(".py"):
                continue
            source = self._source(path, files)
            if isinstance(source, Source):
                sources[path] = source
            else:
                skipped[path] = source
        self._known = {path: known for path, known in self._known.items() if path in sources or path in skipped}
        return Tree(paths, sources, skipped)

    def _source(self, path: str, files: Files) -> Source | str:
        try:
            text = files.read(path)
        except (OSError, UnicodeError, AfreshError):
            return "cannot be read as text"
        known = self._known.get(path)
        if known is None or known[0] != text:
            known = self._known[path] = (text, parse(path, text))
        if known[1] is not None:
            return known[1]
        return f"{len(text):,} characters, too large" if len(text) > LARGEST else "does not parse"


def scope(goal: str, paths: Sequence[str]) -> list[str]:
    """The files and folders that a goal names; empty when it names none."""
    folders = {str(parent) for path in paths for parent in PurePosixPath(path).parents} - {"."}
    known = set(paths) | folders
    found: list[str] = []
    for raw in goal.split():
        word = raw.strip("'\"()`,;:!?").rstrip(".").removeprefix("./")
        if word.rstrip("/") in known and ("/" in word or word in paths):
            found.append(word.rstrip("/"))
    return found


def within(path: str, places: Sequence[str]) -> bool:
    return not places or any(path == place or path.startswith(place + "/") for place in places)
