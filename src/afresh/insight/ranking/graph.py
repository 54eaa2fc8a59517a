"""How files hang together: what imports what, and which test belongs to which code by its name."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import PurePosixPath

from afresh.domain.paths import is_test
from afresh.insight.code import Code
from afresh.insight.ranking.signals import Scores, levelled, subject

DAMPING = 0.85
ROUNDS = 20
NAMELESS = {"", "test", "tests", "init", "index", "main", "mod", "conftest", "spec"}
"""Names that say nothing of what a file is about; then its folder does."""
MOST_PAIRED = 3
"""A name that more files have pairs none of them."""


def paired(code: Code, path: str) -> Sequence[str]:
    """Tests of a file, or files of a test, that are called after the same."""
    return pairs(tuple(code.files)).get(path, ())


@lru_cache(maxsize=4)
def pairs(files: tuple[str, ...]) -> Mapping[str, tuple[str, ...]]:
    tests: dict[str, list[str]] = {}
    sources: dict[str, list[str]] = {}
    for path in files:
        if name := _about(path):
            (tests if is_test(path) else sources).setdefault(name, []).append(path)
    found: dict[str, list[str]] = {}
    for name in tests.keys() & sources.keys():
        if len(tests[name]) <= MOST_PAIRED and len(sources[name]) <= MOST_PAIRED:
            for one in tests[name]:
                for other in sources[name]:
                    found.setdefault(one, []).append(other)
                    found.setdefault(other, []).append(one)
    return {path: tuple(sorted(held)) for path, held in found.items()}


def _about(path: str) -> str:
    name = subject(path).lower()
    if name in NAMELESS:
        name = PurePosixPath(path).parent.name.strip("_").lower()
        name = name.removeprefix("test_").removesuffix("_tests").removesuffix("_test")
    return "" if name in NAMELESS else name


def neighbours(code: Code, path: str) -> Scores:
    """Files that it imports, and that import it; one of many is little."""
    found: Scores = {}
    for others in (code.imports(path), code.importers(path)):
        for other in others:
            found[other] = found.get(other, 0.0) + len(others) ** -0.5
    return found


def central(code: Code) -> Scores:
    """PageRank over imports: what much of the tree leads to."""
    files, count = code.files, len(code.files)
    targets = {path: code.imports(path) for path in files}
    rank = dict.fromkeys(files, 1 / count) if count else {}
    for _ in range(ROUNDS):
        given, idle = dict.fromkeys(files, 0.0), 0.0
        for path, held in targets.items():
            idle += 0.0 if held else rank[path]
            for other in held:
                given[other] += rank[path] / len(held)
        rank = {path: (1 - DAMPING + DAMPING * idle) / count + DAMPING * score for path, score in given.items()}
    return levelled(rank)
