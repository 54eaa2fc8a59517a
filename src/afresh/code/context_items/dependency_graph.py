"""Section `graph`: who depends on the files that the work is about, and how the folders hang together."""

from collections import Counter
from collections.abc import Iterator
from pathlib import PurePosixPath

from afresh.code.context_items.work_focus import WorkFocus, join_first_names
from afresh.code.index.code_index import CodeIndex
from afresh.core.context_item import Note

MAX_GRAPH_FILES = 4
MAX_LISTED_NAMES = 6
MAX_FOLDER_LINES = 8
"""Files that are told of, names in one list, and folders that are told to use others."""


def gather_dependency_graph(scene: WorkFocus) -> Iterator[Note]:
    code = scene.code
    for path in [path for path in scene.places if path in code.files][:MAX_GRAPH_FILES]:
        users = [one for one in code.importers(path) if not code.is_test(one)]
        parts = [("used by", users), ("uses", code.imports(path)), ("tests", code.tests_of(path))]
        told = [f"{what} {join_first_names(names, MAX_LISTED_NAMES)}" for what, names in parts if names]
        if told:
            yield Note("graph", path, f"{path}: {'; '.join(told)}")
    if arrows := render_folder_dependencies(code):
        yield Note("graph", "folders", "folders: " + "; ".join(arrows))


def render_folder_dependencies(code: CodeIndex) -> list[str]:
    """Which folder imports from which, with how many imports, tests aside; nothing for a tree of one folder."""
    counts: Counter[tuple[str, str]] = Counter()
    for path in code.files:
        if not code.is_test(path):
            counts.update(
                (folder_from_path(path), folder_from_path(other))
                for other in code.imports(path)
                if folder_from_path(other) != folder_from_path(path)
            )
    used: dict[str, list[str]] = {}
    for (user, owner), count in sorted(counts.items(), key=lambda one: (-one[1], one[0])):
        used.setdefault(user, []).append(f"{owner} ({count})")
    return [f"{user} → {join_first_names(owners, MAX_LISTED_NAMES)}" for user, owners in list(used.items())[:MAX_FOLDER_LINES]]


def folder_from_path(path: str) -> str:
    return str(PurePosixPath(path).parent)
