"""Section `graph`: who depends on the files that the work is about, and how the folders hang together."""

from collections import Counter
from collections.abc import Iterator
from pathlib import PurePosixPath

from afresh.domain.fact import Look
from afresh.insight.code import Code
from afresh.insight.looks.scene import Scene, listed

FILES = 4
NAMED = 6
ARROWS = 8
"""Files that are told of, names in one list, and folders that are told to use others."""


def graph(scene: Scene) -> Iterator[Look]:
    code = scene.code
    for path in [path for path in scene.places if path in code.files][:FILES]:
        users = [one for one in code.importers(path) if not code.is_test(one)]
        parts = [("used by", users), ("uses", code.imports(path)), ("tests", code.tests_of(path))]
        told = [f"{what} {listed(names, NAMED)}" for what, names in parts if names]
        if told:
            yield Look("graph", path, f"{path}: {'; '.join(told)}")
    if arrows := between(code):
        yield Look("graph", "folders", "folders: " + "; ".join(arrows))


def between(code: Code) -> list[str]:
    """Which folder imports from which, with how many imports, tests aside; nothing for a tree of one folder."""
    counts: Counter[tuple[str, str]] = Counter()
    for path in code.files:
        if not code.is_test(path):
            counts.update((zone(path), zone(other)) for other in code.imports(path) if zone(other) != zone(path))
    used: dict[str, list[str]] = {}
    for (user, owner), count in sorted(counts.items(), key=lambda one: (-one[1], one[0])):
        used.setdefault(user, []).append(f"{owner} ({count})")
    return [f"{user} → {listed(owners, NAMED)}" for user, owners in list(used.items())[:ARROWS]]


def zone(path: str) -> str:
    return str(PurePosixPath(path).parent)
