"""Files that a text means without naming them: a command, tool or part as the files say it of themselves, or are called."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import PurePosixPath

from afresh.code.index.code_index import CodeIndex
from afresh.code.ranking.signals import FileScores, subject_from_path
from afresh.code.recent_answers import RecentAnswers
from afresh.core.search_words import STOP_WORDS, stem_word

QUOTED_CODE = re.compile(r"``?([^`\n]{2,80})``?")
PLAIN_WORD = re.compile(r"(?<![\w/.-])[A-Za-z][\w-]*(?![\w/]|\.\w)")
DOC_PHRASE_SCORE = 1.0
FOLDER_AND_NAME_SCORE = 0.9
QUOTED_NAME_SCORE = 0.5
"""Its own documentation begins with the phrase; it is called after one word and its folder after the word beside; it is called
after a word that is written as code."""
MIN_SURE_SCORE = 0.85
MAX_SURE_FILES = 3
MAX_CACHED_ANSWERS = 16
"""From where on a file counts as named, if there are no more of them; and answers that are kept."""
_recent_scores: RecentAnswers[tuple[str, str], FileScores] = RecentAnswers(MAX_CACHED_ANSWERS)


def score_implied_files(code: CodeIndex, text: str) -> FileScores:
    """No tests: they are found by what they test. The same question of the same tree is answered from memory."""
    return _recent_scores.get_or_make((code.digest, text), lambda: _score_implied_files(code, text))


def find_surely_implied_files(code: CodeIndex, text: str) -> list[str]:
    """Those that are as good as named, the surest first."""
    found = score_implied_files(code, text)
    kept = sorted((path for path in found if found[path] >= MIN_SURE_SCORE), key=lambda path: (-found[path], path))
    return kept if len(kept) <= MAX_SURE_FILES else []


def _score_implied_files(code: CodeIndex, text: str) -> FileScores:
    product = [path for path in code.files if not code.is_test(path)]
    called: dict[str, list[str]] = {}
    for path in product:
        called.setdefault(_normalize_name(subject_from_path(path)), []).append(path)
    found: FileScores = {}
    for path, worth in (
        *_score_doc_phrases(code, product, text),
        *_score_folder_and_name(called, text),
        *_score_quoted_names(called, text),
    ):
        found[path] = max(found.get(path, 0.0), worth)
    return found


def _score_doc_phrases(code: CodeIndex, product: Sequence[str], text: str) -> Iterator[tuple[str, float]]:
    """Documentation that has two words of the text beside each other as code."""
    wanted = set(_word_pairs(text))
    for pair in wanted:
        holders = [path for path in product if pair in code.doc(path) and pair in {*_quoted_word_pairs(code.doc(path))}]
        yield from ((path, DOC_PHRASE_SCORE / len(holders) ** 0.5) for path in holders)


def _quoted_word_pairs(doc: str) -> Iterator[str]:
    for inside in QUOTED_CODE.findall(doc):
        yield from _word_pairs(inside)


def _word_pairs(text: str) -> Iterator[str]:
    words = list(PLAIN_WORD.finditer(text))
    for first, second in pairwise(words):
        if text[first.end() : second.start()].isspace() and second[0].lower() not in STOP_WORDS:
            yield f"{first[0]} {second[0]}"


def _score_folder_and_name(called: dict[str, list[str]], text: str) -> Iterator[tuple[str, float]]:
    """`the plan tool`, `the tool read`: tools/plan.py, tools/read.py."""
    words = [match[0].lower() for match in PLAIN_WORD.finditer(text) if match[0].lower() not in STOP_WORDS]
    beside = list(pairwise(words))
    for name, folder in (*beside, *[(second, first) for first, second in beside]):
        paths = [
            path
            for path in called.get(_normalize_name(name), ())
            if stem_word(PurePosixPath(path).parent.name.lower()) == stem_word(folder)
        ]
        yield from ((path, FOLDER_AND_NAME_SCORE / len(paths) ** 0.5) for path in paths)


def _score_quoted_names(called: dict[str, list[str]], text: str) -> Iterator[tuple[str, float]]:
    for inside in QUOTED_CODE.findall(text):
        for word in PLAIN_WORD.findall(inside):
            paths = called.get(_normalize_name(word), ())
            yield from ((path, QUOTED_NAME_SCORE / len(paths) ** 0.5) for path in paths)


def _normalize_name(name: str) -> str:
    return name.lower().replace("-", "_")
