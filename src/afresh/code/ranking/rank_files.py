"""Ranks files for a query, with their relevant symbols, and selects the lines of a map that fit a token limit."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import log1p

from afresh.code.caches import RecentAnswers
from afresh.code.index.code_index import CodeIndex
from afresh.code.index.update_index import stem_identifier
from afresh.code.ranking.query import QueryTerms, RankedFile, RankingQuery
from afresh.code.ranking.score_files import explain_rank, score_files
from afresh.code.ranking.signals import WordCounts, measure_rarity
from afresh.core.search_words import stem_word
from afresh.core.symbol import Symbol, SymbolKind
from afresh.core.truncate import find_longest_fitting, to_one_line

MAX_CACHED_RANKINGS = 8


def rank_files(code: CodeIndex, question: RankingQuery, most: int = 30) -> list[RankedFile]:
    """Return the relevant files, the best first, with reasons and symbols."""
    weighed = score_files(code, question)
    best = weighed.best()[:most]
    at = make_symbol_criteria(code, weighed.asked, weighed.saying, best)
    return [
        RankedFile(path, weighed.total[path], explain_rank(code, question, weighed, path), rank_symbols(code, at, path))
        for path in best
    ]


_recent_rankings: RecentAnswers[tuple[str, RankingQuery, int], list[RankedFile]] = RecentAnswers(MAX_CACHED_RANKINGS)


def rank_files_cached(code: CodeIndex, question: RankingQuery, most: int) -> list[RankedFile]:
    """As `rank_files`, but recent answers for the same code are cached, even across indexes of it."""
    return [*_recent_rankings.get_or_make((code.digest, question, most), lambda: rank_files(code, question, most))]


NAMED_WEIGHT = 3.0
NAME_WORDS_WEIGHT = 1.0
DESCRIPTION_WEIGHT = 0.4
USE_WEIGHT = 0.1
QUALIFIED_NAME_FACTOR = 2.0
"""A name given with its class weighs more than the class."""
WEIGHT_BY_KIND = {
    SymbolKind.CLASS: 1.0,
    SymbolKind.INTERFACE: 1.0,
    SymbolKind.FUNCTION: 0.9,
    SymbolKind.METHOD: 0.6,
    SymbolKind.CONSTANT: 0.3,
}
PRIVATE_FACTOR = 0.5
FILES_WHOSE_USES_COUNT = 10
"""Highest ranked files whose uses of a symbol count in its favour."""


@dataclass(frozen=True, slots=True)
class SymbolCriteria:
    """Criteria for scoring symbols, computed once for a query."""

    names: Mapping[str, float]
    words: Mapping[str, float]
    """By stem: how significant a word is in this tree, 1 for the most significant."""
    uses: Mapping[str, int]
    """How many of the highest ranked files use an identifier."""
    definers: Mapping[str, int]
    """How many symbols of the ranked files have a name: uses of a frequent name say little about each."""


def make_symbol_criteria(code: CodeIndex, question: QueryTerms, saying: WordCounts, ranked: Sequence[str]) -> SymbolCriteria:
    worth = {
        stem_word(word): weight * measure_rarity(len(saying[word]), len(code.files)) for word, weight in question.words.items()
    }
    top = max(worth.values(), default=0.0) or 1.0
    names = {name.rpartition(".")[2]: sure for name, sure in question.names.items()} | dict(question.names)
    uses = Counter(name for path in ranked[:FILES_WHOSE_USES_COUNT] for name in code.reading(path).mentions)
    definers = Counter(symbol.short for path in ranked for symbol in code.reading(path).symbols)
    return SymbolCriteria(names, {word: value / top for word, value in worth.items()}, uses, definers)


def rank_symbols(code: CodeIndex, at: SymbolCriteria, path: str) -> tuple[Symbol, ...]:
    """Return the symbols of one file, the weightiest first."""
    known = code.reading(path).symbols
    scores = [_score_symbol(code, at, symbol) for symbol in known]
    return tuple(known[number] for number in sorted(range(len(known)), key=lambda number: (-scores[number], number)))


def _score_symbol(code: CodeIndex, at: SymbolCriteria, symbol: Symbol) -> float:
    named = max(
        QUALIFIED_NAME_FACTOR * at.names.get(symbol.name, 0.0) if "." in symbol.name else 0.0, at.names.get(symbol.short, 0.0)
    )
    spoken = sum(at.words.get(word, 0.0) for word in stem_identifier(symbol.short))
    described = (
        sum(at.words.get(word, 0.0) for word in {*stem_identifier(symbol.doc), *stem_identifier(symbol.signature)})
        if at.words
        else 0.0
    )
    used = (at.uses.get(symbol.short, 0) if at.words else _count_users(code, symbol)) / at.definers[symbol.short]
    kind = WEIGHT_BY_KIND[symbol.kind] * (1.0 if symbol.public else PRIVATE_FACTOR)
    return (
        NAMED_WEIGHT * named + NAME_WORDS_WEIGHT * spoken + DESCRIPTION_WEIGHT * described + USE_WEIGHT * kind * (1 + log1p(used))
    )


def _count_users(code: CodeIndex, symbol: Symbol) -> int:
    """Return the number of files in the tree that use it; only for public symbols."""
    return len(code.mentioning(symbol.short)) if symbol.public and "." not in symbol.name else 0


MAX_SIGNATURE_CHARACTERS = 120
SYMBOL_DECAY = 0.82
"""Value of each further symbol of a file relative to the one before, so that the best symbol of a lower file comes before the
last of a higher one.
"""
MIN_LINE_TOKENS = 4
TYPICAL_FILE_TOKENS = 40
"""Tokens that a line takes at least, and that a file with reasons and symbols takes on average; used to skip what can't fit."""
MAX_SYMBOLS_PER_FILE = 60
"""Symbols of one file."""


@dataclass(frozen=True, slots=True)
class RankedMapFile:
    """A file of the map, and those of its symbols that fit, in source order."""

    ranked: RankedFile
    symbols: tuple[Symbol, ...]

    @property
    def more(self) -> int:
        return len(self.ranked.symbols) - len(self.symbols)


def select_map_files(code: CodeIndex, question: RankingQuery, tokens: int, count: Callable[[str], int]) -> list[RankedMapFile]:
    """Return what fits into the token limit. A line's value falls with its file's score and its position in the file; the most
    valuable lines are taken as long as the rendered text fits.
    """
    files = rank_files_cached(code, question, tokens // TYPICAL_FILE_TOKENS + 3) if tokens > 0 else []
    lines = sorted(
        (-ranked.score * SYMBOL_DECAY**number, place, number)
        for place, ranked in enumerate(files)
        for number in range(min(len(ranked.symbols), MAX_SYMBOLS_PER_FILE) + 1)
    )[: tokens // MIN_LINE_TOKENS + 1]

    def make(number: int) -> list[RankedMapFile]:
        return _files_from_lines(files, lines[:number])

    return find_longest_fitting(make, 1, len(lines), lambda shown: count(render_map_files(shown)) <= tokens) or []


def _files_from_lines(files: Sequence[RankedFile], lines: Sequence[tuple[float, int, int]]) -> list[RankedMapFile]:
    """Group the chosen lines by file. A file's own line is number 0 and worth more than its symbols, so it is always included."""
    counts: dict[int, int] = {}
    for _, place, number in lines:
        counts[place] = max(counts.get(place, 0), number)
    return [RankedMapFile(files[place], _with_owners(files[place].symbols, taken)) for place, taken in sorted(counts.items())]


def _with_owners(symbols: Sequence[Symbol], taken: int) -> tuple[Symbol, ...]:
    """Return the first symbols and the classes and functions that enclose them, in source order."""
    held = symbols[:taken]
    owners = {symbol.name.rpartition(".")[0] for symbol in held if "." in symbol.name}
    whole = {".".join(name.split(".")[:end]) for name in owners for end in range(1, name.count(".") + 2)}
    beside = [symbol for symbol in symbols[taken:] if symbol.name in whole]
    return tuple(sorted([*held, *beside], key=lambda symbol: (symbol.line, -symbol.end, symbol.name)))


def render_map_files(files: Sequence[RankedMapFile]) -> str:
    return "\n".join(line for shown in files for line in _render_map_file(shown))


def _render_map_file(shown: RankedMapFile) -> list[str]:
    why = "; ".join(shown.ranked.reasons)
    head = to_one_line(shown.ranked.path) + (f"  ({why})" if why else "")
    more = [f"        … {shown.more} more"] if shown.more and shown.symbols else []
    return [
        head,
        *(f"{symbol.line:6}  {render_indent(symbol)}{render_symbol_signature(symbol)}" for symbol in shown.symbols),
        *more,
    ]


def render_indent(symbol: Symbol) -> str:
    return "  " * symbol.name.count(".")


def render_symbol_signature(symbol: Symbol) -> str:
    return to_one_line(symbol.signature or symbol.name, MAX_SIGNATURE_CHARACTERS)
