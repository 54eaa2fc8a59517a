"""How much files and definitions have to do with a text, by the words they share. Rare words count for more."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from afresh.code.index.code_index import CodeIndex
from afresh.code.ranking.signals import measure_rarity, saturate_count
from afresh.code.recent_answers import RecentAnswers
from afresh.core.search_words import drop_stop_words, split_words, stem_word
from afresh.core.symbol import Symbol, SymbolKind

LENGTH_WEIGHT = 0.6
"""How much a long text must say more often."""
LINES_OF_MEAN_DEFINITION = 20
NAME_WORD_WEIGHT = 2.0
COMMON_WORD_WEIGHT = 0.45
"""What a word tells that every second file says."""
DEFINITION_KINDS = (SymbolKind.FUNCTION, SymbolKind.METHOD, SymbolKind.CLASS, SymbolKind.INTERFACE)


def weigh_words(code: CodeIndex, text: str) -> dict[str, float]:
    """The words of a text with what each tells about this tree."""
    many = len(code.files)
    words = dict.fromkeys(stem_word(word) for word in drop_stop_words(split_words(text)))
    said = {word: len(code.words(word)) for word in words}
    return {word: measure_rarity(count, many) for word, count in said.items() if count}


def score_files_by_words(code: CodeIndex, words: Mapping[str, float]) -> dict[str, float]:
    """Files that say any of them, with what that comes to."""
    average = max(1.0, sum(map(code.length, code.files)) / max(1, len(code.files)))
    found: dict[str, float] = {}
    for word, weight in words.items():
        for path, count in code.words(word).items():
            found[path] = found.get(path, 0.0) + weight * saturate_count(count, code.length(path) / average, LENGTH_WEIGHT)
    return found


def explain_file_words(code: CodeIndex, path: str, text: str, most: int = 3) -> str:
    """The words that a file was chosen for, as the text has them."""
    telling_words = {stem_word(word): word for word in reversed(drop_stop_words(split_words(text)))}
    known = weigh_words(code, text)
    held = [word for word in known if path in code.words(word)]
    held.sort(key=lambda word: (-known[word] * min(3, code.words(word)[path]), word))
    return "says " + ", ".join(telling_words[word] for word in held[:most])


MAX_CACHED_SCORES = 64
ScoreKey = tuple[str, str, tuple[tuple[str, float], ...]]
_recent_scores: RecentAnswers[ScoreKey, Mapping[Symbol, float]] = RecentAnswers(MAX_CACHED_SCORES)
"""Several sections ask the same of a file."""


def score_symbols_by_words(code: CodeIndex, path: str, words: Mapping[str, float]) -> Mapping[Symbol, float]:
    """Definitions of a file that say any of them. A class is weighed without its methods."""
    text = code.text(path)
    key = (path, text, tuple(words.items()))
    return _recent_scores.get_or_make(key, lambda: _score_symbols(text.splitlines(), code.reading(path).symbols, words))


def _score_symbols(lines: Sequence[str], held: Sequence[Symbol], words: Mapping[str, float]) -> dict[Symbol, float]:
    found: dict[Symbol, float] = {}
    for symbol in held:
        if symbol.kind not in DEFINITION_KINDS:
            continue
        inside = [other for other in held if other is not symbol and symbol.line <= other.line and other.end <= symbol.end]
        body = list_own_lines(lines, symbol, inside)
        if score := score_words_in_text(f"{symbol.short} {' '.join(body)}", symbol.short, words, len(body)):
            found[symbol] = score
    return found


def list_own_lines(lines: Sequence[str], symbol: Symbol, inside: Sequence[Symbol]) -> list[str]:
    """Of a class those that belong to none of its definitions."""
    taken = (
        [other for other in inside if other.kind in DEFINITION_KINDS]
        if symbol.kind in (SymbolKind.CLASS, SymbolKind.INTERFACE)
        else []
    )
    numbers = range(symbol.line, min(symbol.end, len(lines)) + 1)
    return [lines[number - 1] for number in numbers if not any(one.line <= number <= one.end for one in taken)]


def score_words_in_text(text: str, name: str, words: Mapping[str, float], size: int) -> float:
    said, called = Counter(map(stem_word, split_words(text))), {stem_word(word) for word in split_words(name)}
    share = size / LINES_OF_MEAN_DEFINITION
    once = sum(weight * saturate_count(said[word], share, LENGTH_WEIGHT) for word, weight in words.items() if word in said)
    return once + NAME_WORD_WEIGHT * sum(weight for word, weight in words.items() if word in called)


def has_word_in_name(name: str, words: Mapping[str, float]) -> bool:
    """Whether a word that tells something is in the name itself; by what a body says alone too much is found."""
    return any(words.get(stem_word(word), 0.0) > COMMON_WORD_WEIGHT for word in split_words(name))


def find_mention_lines(text: str, name: str) -> list[int]:
    """Numbers of the lines that say a name as a word of its own."""
    pattern = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
    return [number for number, line in enumerate(text.splitlines(), 1) if pattern.search(line)]
