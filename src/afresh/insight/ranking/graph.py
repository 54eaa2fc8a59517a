"""How files hang together: what imports what, and which test belongs to which code by its name."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import PurePosixPath

from afresh.domain.paths import is_test_code
from afresh.insight.code import CodeIndex
from afresh.insight.ranking.signals import FileScores, normalize_scores, subject_from_path

PAGERANK_DAMPING = 0.85
PAGERANK_ROUNDS = 20
UNINFORMATIVE_NAMES = {"", "test", "tests", "init", "index", "main", "mod", "conftest", "spec"}
"""Names that say nothing of what a file is about; then its folder does."""
MAX_FILES_PER_PAIR_NAME = 3
"""A name that more files have pairs none of them."""


def find_paired_files(code: CodeIndex, path: str) -> Sequence[str]:
    """Tests of a file, or files of a test, that are called after the same."""
    return pair_tests_with_sources(tuple(code.files)).get(path, ())


@lru_cache(maxsize=4)
def pair_tests_with_sources(files: tuple[str, ...]) -> Mapping[str, tuple[str, ...]]:
    tests: dict[str, list[str]] = {}
    sources: dict[str, list[str]] = {}
    for path in files:
        if name := _pair_name(path):
            (tests if is_test_code(path) else sources).setdefault(name, []).append(path)
    found: dict[str, list[str]] = {}
    for name in tests.keys() & sources.keys():
        if len(tests[name]) <= MAX_FILES_PER_PAIR_NAME and len(sources[name]) <= MAX_FILES_PER_PAIR_NAME:
            for one in tests[name]:
                for other in sources[name]:
                    found.setdefault(one, []).append(other)
                    found.setdefault(other, []).append(one)
    return {path: tuple(sorted(held)) for path, held in found.items()}


def _pair_name(path: str) -> str:
    name = subject_from_path(path).lower()
    if name in UNINFORMATIVE_NAMES:
        name = PurePosixPath(path).parent.name.strip("_").lower()
        name = name.removeprefix("test_").removesuffix("_tests").removesuffix("_test")
    return "" if name in UNINFORMATIVE_NAMES else name


def score_import_neighbours(code: CodeIndex, path: str) -> FileScores:
    """Files that it imports, and that import it; one of many is little."""
    found: FileScores = {}
    for others in (code.imports(path), code.importers(path)):
        for other in others:
            found[other] = found.get(other, 0.0) + len(others) ** -0.5
    return found


def score_centrality(code: CodeIndex) -> FileScores:
    """PageRank over imports: what much of the tree leads to."""
    files, count = code.files, len(code.files)
    targets = {path: code.imports(path) for path in files}
    rank = dict.fromkeys(files, 1 / count) if count else {}
    for _ in range(PAGERANK_ROUNDS):
        given, idle = dict.fromkeys(files, 0.0), 0.0
        for path, held in targets.items():
            idle += 0.0 if held else rank[path]
            for other in held:
                given[other] += rank[path] / len(held)
        rank = {
            path: (1 - PAGERANK_DAMPING + PAGERANK_DAMPING * idle) / count + PAGERANK_DAMPING * score
            for path, score in given.items()
        }
    return normalize_scores(rank)
