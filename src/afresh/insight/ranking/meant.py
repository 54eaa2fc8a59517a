"""Files that a text means without naming them: a command, tool or part as the files say it of themselves, or are called."""

import re
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import PurePosixPath

from afresh.domain.words import STOP_WORDS, stem
from afresh.insight.code import Code
from afresh.insight.ranking.signals import Scores, subject

QUOTED = re.compile(r"``?([^`\n]{2,80})``?")
WORD = re.compile(r"(?<![\w/.-])[A-Za-z][\w-]*(?![\w/]|\.\w)")
SAID = 1.0
PLACED = 0.9
CALLED = 0.5
"""Its own documentation begins with the phrase; it is called after one word and its folder after the word beside; it is called
after a word that is written as code."""
SURE = 0.85
MOST = 3
KEPT = 16
"""From where on a file counts as named, if there are no more of them; and answers that are kept."""
_answered: OrderedDict[tuple[str, str], Scores] = OrderedDict()


def meant(code: Code, text: str) -> Scores:
    """No tests: they are found by what they test. The same question of the same tree is answered from memory."""
    key = (code.digest, text)
    if key not in _answered:
        _answered[key] = _meant(code, text)
        if len(_answered) > KEPT:
            _answered.popitem(last=False)
    return _answered[key]


def sure(code: Code, text: str) -> list[str]:
    """Those that are as good as named, the surest first."""
    found = meant(code, text)
    kept = sorted((path for path in found if found[path] >= SURE), key=lambda path: (-found[path], path))
    return kept if len(kept) <= MOST else []


def _meant(code: Code, text: str) -> Scores:
    product = [path for path in code.files if not code.is_test(path)]
    called: dict[str, list[str]] = {}
    for path in product:
        called.setdefault(_plain(subject(path)), []).append(path)
    found: Scores = {}
    for path, worth in (*_said(code, product, text), *_placed(called, text), *_called(called, text)):
        found[path] = max(found.get(path, 0.0), worth)
    return found


def _said(code: Code, product: Sequence[str], text: str) -> Iterator[tuple[str, float]]:
    """Documentation that has two words of the text beside each other as code."""
    wanted = set(_pairs(text))
    for pair in wanted:
        holders = [path for path in product if pair in code.doc(path) and pair in {*_quoted_pairs(code.doc(path))}]
        yield from ((path, SAID / len(holders) ** 0.5) for path in holders)


def _quoted_pairs(doc: str) -> Iterator[str]:
    for inside in QUOTED.findall(doc):
        yield from _pairs(inside)


def _pairs(text: str) -> Iterator[str]:
    words = list(WORD.finditer(text))
    for first, second in pairwise(words):
        if text[first.end() : second.start()].isspace() and second[0].lower() not in STOP_WORDS:
            yield f"{first[0]} {second[0]}"


def _placed(called: dict[str, list[str]], text: str) -> Iterator[tuple[str, float]]:
    """`the plan tool`, `the tool read`: tools/plan.py, tools/read.py."""
    words = [match[0].lower() for match in WORD.finditer(text) if match[0].lower() not in STOP_WORDS]
    beside = list(pairwise(words))
    for name, folder in (*beside, *[(second, first) for first, second in beside]):
        paths = [path for path in called.get(_plain(name), ()) if stem(PurePosixPath(path).parent.name.lower()) == stem(folder)]
        yield from ((path, PLACED / len(paths) ** 0.5) for path in paths)


def _called(called: dict[str, list[str]], text: str) -> Iterator[tuple[str, float]]:
    for inside in QUOTED.findall(text):
        for word in WORD.findall(inside):
            paths = called.get(_plain(word), ())
            yield from ((path, CALLED / len(paths) ** 0.5) for path in paths)


def _plain(name: str) -> str:
    return name.lower().replace("-", "_")
