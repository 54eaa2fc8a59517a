"""How much files and definitions have to do with a text, by the words they share. Rare words count for more."""

import re
from collections import Counter, OrderedDict
from collections.abc import Mapping, Sequence
from math import log

from afresh.domain.code import Kind, Symbol
from afresh.domain.words import split, stem, telling
from afresh.insight.code import Code

SATURATION = 1.2
LENGTH = 0.6
NAME = 2.0
"""How soon more of the same word counts for nothing, how much a long text counts for less, and a word in a name for more."""
COMMON = 0.45
"""What a word tells that every second file says."""
DEFINITIONS = (Kind.FUNCTION, Kind.METHOD, Kind.CLASS, Kind.INTERFACE)


def weights(code: Code, text: str) -> dict[str, float]:
    """The words of a text with what each tells about this tree."""
    many = len(code.files)
    words = dict.fromkeys(stem(word) for word in telling(split(text)))
    said = {word: len(code.words(word)) for word in words}
    return {word: log(1 + (many - count + 0.5) / (count + 0.5)) for word, count in said.items() if count}


def files(code: Code, words: Mapping[str, float]) -> dict[str, float]:
    """Files that say any of them, with what that comes to."""
    average = sum(map(code.length, code.files)) / max(1, len(code.files))
    found: dict[str, float] = {}
    for word, weight in words.items():
        for path, count in code.words(word).items():
            stretch = SATURATION * (1 - LENGTH + LENGTH * code.length(path) / max(1.0, average))
            found[path] = found.get(path, 0.0) + weight * count * (1 + SATURATION) / (count + stretch)
    return found


def because(code: Code, path: str, text: str, most: int = 3) -> str:
    """The words that a file was chosen for, as the text has them."""
    telling_words = {stem(word): word for word in reversed(telling(split(text)))}
    known = weights(code, text)
    held = [word for word in known if path in code.words(word)]
    held.sort(key=lambda word: (-known[word] * min(3, code.words(word)[path]), word))
    return "says " + ", ".join(telling_words[word] for word in held[:most])


KEPT = 64
_weighed: OrderedDict[tuple[str, str, tuple[tuple[str, float], ...]], Mapping[Symbol, float]] = OrderedDict()
"""What was weighed last: several sections ask the same of a file, and the next window asks again."""


def symbols(code: Code, path: str, words: Mapping[str, float]) -> Mapping[Symbol, float]:
    """Definitions of a file that say any of them. A class is weighed without its methods."""
    text = code.text(path)
    key = (path, text, tuple(words.items()))
    if key not in _weighed:
        _weighed[key] = _symbols(text.splitlines(), code.reading(path).symbols, words)
        if len(_weighed) > KEPT:
            _weighed.popitem(last=False)
    return _weighed[key]


def _symbols(lines: Sequence[str], held: Sequence[Symbol], words: Mapping[str, float]) -> dict[Symbol, float]:
    found: dict[Symbol, float] = {}
    for symbol in held:
        if symbol.kind not in DEFINITIONS:
            continue
        inside = [other for other in held if other is not symbol and symbol.line <= other.line and other.end <= symbol.end]
        body = own_lines(lines, symbol, inside)
        if score := weighed(f"{symbol.short} {' '.join(body)}", symbol.short, words, len(body)):
            found[symbol] = score
    return found


def own_lines(lines: Sequence[str], symbol: Symbol, inside: Sequence[Symbol]) -> list[str]:
    """Of a class those that belong to none of its definitions."""
    taken = [other for other in inside if other.kind in DEFINITIONS] if symbol.kind in (Kind.CLASS, Kind.INTERFACE) else []
    numbers = range(symbol.line, min(symbol.end, len(lines)) + 1)
    return [lines[number - 1] for number in numbers if not any(one.line <= number <= one.end for one in taken)]


def weighed(text: str, name: str, words: Mapping[str, float], size: int) -> float:
    said, called = Counter(map(stem, split(text))), {stem(word) for word in split(name)}
    stretch = SATURATION * (1 - LENGTH + LENGTH * size / 20)
    once = sum(weight * said[word] * (1 + SATURATION) / (said[word] + stretch) for word, weight in words.items() if word in said)
    return once + NAME * sum(weight for word, weight in words.items() if word in called)


def named_by(name: str, words: Mapping[str, float]) -> bool:
    """Whether a word that tells something is in the name itself; by what a body says alone too much is found."""
    return any(words.get(stem(word), 0.0) > COMMON for word in split(name))


def mentions(text: str, name: str) -> list[int]:
    """Numbers of the lines that say a name as a word of its own."""
    pattern = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
    return [number for number, line in enumerate(text.splitlines(), 1) if pattern.search(line)]
