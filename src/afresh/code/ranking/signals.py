"""Signals that a file is relevant, each as scores by path; the best file has 1."""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from math import log
from pathlib import PurePosixPath

from afresh.code.index.code_index import CodeIndex
from afresh.code.names_in_text import match_file_names
from afresh.code.ranking.query import FileScores, QueryTerms, subject_from_path
from afresh.core.recognise_test_files import is_test_code
from afresh.core.search_words import drop_stop_words, split_words, stem_word

BM25_SATURATION = 1.2
"""BM25's k1: how soon repetitions of a word stop adding to the score."""
BM25_LENGTH = 0.4
BM25_PATH_LENGTH = 0.75
"""BM25's b: how much long texts are penalised. It is lower for code, since a large file covers more topics."""
MAX_DEFINES_SCORE = 1.5


def normalize_scores(scores: FileScores) -> FileScores:
    top = max(scores.values(), default=0.0)
    return {path: score / top for path, score in scores.items()} if top > 0 else {}


def measure_rarity(holders: int, all: int) -> float:
    return log(1 + (all - holders + 0.5) / (holders + 0.5))


def score_bm25(
    counts: Iterable[tuple[Mapping[str, int], float]], lengths: Mapping[str, float], all: int, hold: float
) -> FileScores:
    """Return BM25 scores, given the count of each word by text. Lengths are shares of the mean."""
    found: FileScores = {}
    for having, weight in counts:
        worth = weight * measure_rarity(len(having), all)
        for key, count in having.items():
            found[key] = found.get(key, 0.0) + worth * saturate_count(count, lengths[key], hold)
    return found


def saturate_count(count: int, length: float, hold: float) -> float:
    """Return the saturated weight of a word's count; the text's length is a share of the mean."""
    return count * (BM25_SATURATION + 1) / (count + BM25_SATURATION * (1 - hold + hold * length))


WordCounts = Mapping[str, Mapping[str, int]]
"""For each word of a query, how often each file contains it."""


def score_words(code: CodeIndex, question: QueryTerms, saying: WordCounts) -> FileScores:
    """Return scores of files that contain the words of the text."""
    counts = [(saying[word], weight) for word, weight in question.words.items()]
    lengths = {path: code.length(path) for path in code.files}
    mean = sum(lengths.values()) / (len(lengths) or 1) or 1
    shares = {path: length / mean for path, length in lengths.items()}
    return normalize_scores(score_bm25(counts, shares, len(code.files), BM25_LENGTH))


@lru_cache(maxsize=4)
def index_path_words(files: tuple[str, ...]) -> tuple[dict[str, dict[str, int]], dict[str, float]]:
    """Return the paths that contain each word, with words of the file's own name counted twice; and path lengths as shares of the
    mean.
    """
    having: dict[str, dict[str, int]] = {}
    lengths: dict[str, float] = {}
    for path in files:
        lines = [stem_word(word) for word in drop_stop_words(split_words(path))]
        lengths[path] = len(lines)
        for word in [*lines, *{stem_word(word) for word in drop_stop_words(split_words(subject_from_path(path)))}]:
            counts = having.setdefault(word, {})
            counts[path] = counts.get(path, 0) + 1
    mean = sum(lengths.values()) / (len(lengths) or 1) or 1
    return having, {path: length / mean for path, length in lengths.items()}


def score_paths(code: CodeIndex, question: QueryTerms) -> FileScores:
    """Return scores of files whose paths contain words of the text."""
    having, lengths = index_path_words(tuple(code.files))
    counts = [(having.get(stem_word(word), {}), weight) for word, weight in question.words.items()]
    return normalize_scores(score_bm25(counts, lengths, len(code.files), BM25_PATH_LENGTH))


def score_definitions(code: CodeIndex, question: QueryTerms) -> FileScores:
    """Return scores of files that define a name of the text; the more definitions, the lower."""
    found: FileScores = {}
    for name, sure in question.names.items():
        places = {place.path for place in code.defining(name)}
        for path in places:
            found[path] = found.get(path, 0.0) + sure / len(places) ** 0.7
    return {path: min(score, MAX_DEFINES_SCORE) for path, score in found.items()}


def score_named_files(code: CodeIndex, text: str) -> FileScores:
    """Return scores of files that the text names with their suffix."""
    named_files: FileScores = {}
    for paths in match_file_names(text, tuple(code.files)).values():
        for path in paths:
            named_files[path] = max(named_files.get(path, 0.0), len(paths) ** -0.5)
    return named_files


UNINFORMATIVE_NAMES = {"", "test", "tests", "init", "index", "main", "mod", "conftest", "spec"}
"""Names that say nothing about a file's subject; its folder is used instead."""
MAX_FILES_PER_PAIR_NAME = 3
"""A name that more files than this have pairs none of them."""


def find_paired_files(code: CodeIndex, path: str) -> Sequence[str]:
    """Return the tests of a file, or the files of a test, by the same name."""
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
    """Return scores of files that it imports or that import it; each counts less the more there are."""
    neighbours: FileScores = {}
    for others in (code.imports(path), code.importers(path)):
        for other in others:
            neighbours[other] = neighbours.get(other, 0.0) + len(others) ** -0.5
    return neighbours
