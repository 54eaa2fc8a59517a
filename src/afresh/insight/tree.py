"""The Python files of a tree, parsed once for each text."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from afresh.domain.paths import is_test_code
from afresh.errors import AfreshError
from afresh.insight.source import MAX_SOURCE_CHARACTERS, PythonSource, parse_python
from afresh.ports import FileTree


@dataclass(frozen=True, slots=True)
class PythonTree:
    paths: tuple[str, ...]
    sources: dict[str, PythonSource]
    skipped: dict[str, str]
    """Python files that were not understood, with the reason."""

    @property
    def code(self) -> list[PythonSource]:
        return [source for path, source in self.sources.items() if not is_test_code(path)]


@dataclass(slots=True)
class PythonTreeReader:
    """Remembers what it parsed: an unchanged file costs one read and one comparison."""

    _known: dict[str, tuple[str, PythonSource | None]] = field(default_factory=dict[str, tuple[str, PythonSource | None]])

    def tree(self, files: FileTree) -> PythonTree:
        paths = tuple(files.paths())
        sources: dict[str, PythonSource] = {}
        skipped: dict[str, str] = {}
        for path in paths:
            if not path.endswith(".py"):
                continue
            source = self._source(path, files)
            if isinstance(source, PythonSource):
                sources[path] = source
            else:
                skipped[path] = source
        self._known = {path: known for path, known in self._known.items() if path in sources or path in skipped}
        return PythonTree(paths, sources, skipped)

    def _source(self, path: str, files: FileTree) -> PythonSource | str:
        try:
            text = files.read(path)
        except (OSError, UnicodeError, AfreshError):
            return "cannot be read as text"
        known = self._known.get(path)
        if known is None or known[0] != text:
            known = self._known[path] = (text, parse_python(path, text))
        if known[1] is not None:
            return known[1]
        return f"{len(text):,} characters, too large" if len(text) > MAX_SOURCE_CHARACTERS else "does not parse"


def find_goal_paths(goal: str, paths: Sequence[str]) -> list[str]:
    """The files and folders that a goal names; empty when it names none."""
    folders = {str(parent) for path in paths for parent in PurePosixPath(path).parents} - {"."}
    known = set(paths) | folders
    found: list[str] = []
    for raw in goal.split():
        word = raw.strip("'\"()`,;:!?").rstrip(".").removeprefix("./")
        if word.rstrip("/") in known and ("/" in word or word in paths):
            found.append(word.rstrip("/"))
    return found


def is_within_paths(path: str, places: Sequence[str]) -> bool:
    return not places or any(path == place or path.startswith(place + "/") for place in places)
