"""A map of the code for a question: files in order with reasons, below each what matters in it, never over a cap of tokens."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from afresh.domain.code import Symbol
from afresh.domain.text import one_line
from afresh.insight.code import Code
from afresh.insight.ranking.question import Question, Ranked
from afresh.insight.ranking.rank import concerning

SIGNATURE = 120
FADING = 0.82
"""Worth of each further symbol of a file, against the one before: the best of a lesser file comes before the last of a better."""
LINE = 4
FILE = 40
"""Tokens that a line takes at least, and a file with its reasons and symbols about: what a cap can have no room for is not
looked at."""
MOST_SHOWN = 60
"""Symbols of one file."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A file of the map, and the symbols of it that there is room for, in reading order."""

    ranked: Ranked
    symbols: tuple[Symbol, ...]

    @property
    def more(self) -> int:
        return len(self.ranked.symbols) - len(self.symbols)


def map_of(code: Code, question: Question, tokens: int, count: Callable[[str], int]) -> str:
    """As text, for a window or a pipe; empty when there is room for nothing."""
    return written(chosen(code, question, tokens, count))


def chosen(code: Code, question: Question, tokens: int, count: Callable[[str], int]) -> list[Shown]:
    """What there is room for. The worth of a line falls with its file's score and its place in it; the lines worth most are
    taken as long as the text that they make fits."""
    files = concerning(code, question, tokens // FILE + 3) if tokens > 0 else []
    lines = sorted(
        (-ranked.score * FADING**number, place, number)
        for place, ranked in enumerate(files)
        for number in range(min(len(ranked.symbols), MOST_SHOWN) + 1)
    )[: tokens // LINE + 1]
    low, high = 0, len(lines)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if count(written(_taken(files, lines[:middle]))) <= tokens else (low, middle - 1)
    while low and count(written(_taken(files, lines[:low]))) > tokens:
        low -= 1
    return _taken(files, lines[:low])


def _taken(files: Sequence[Ranked], lines: Sequence[tuple[float, int, int]]) -> list[Shown]:
    """A file's own line is number 0 and worth more than any of its symbols, so it is there when one of them is."""
    counts: dict[int, int] = {}
    for _, place, number in lines:
        counts[place] = max(counts.get(place, 0), number)
    return [Shown(files[place], _with_owners(files[place].symbols, taken)) for place, taken in sorted(counts.items())]


def _with_owners(symbols: Sequence[Symbol], taken: int) -> tuple[Symbol, ...]:
    """The first of them, and the classes and functions that they stand in, in reading order."""
    held = symbols[:taken]
    owners = {symbol.name.rpartition(".")[0] for symbol in held if "." in symbol.name}
    whole = {".".join(name.split(".")[:end]) for name in owners for end in range(1, name.count(".") + 2)}
    beside = [symbol for symbol in symbols[taken:] if symbol.name in whole]
    return tuple(sorted([*held, *beside], key=lambda symbol: (symbol.line, -symbol.end, symbol.name)))


def written(files: Sequence[Shown]) -> str:
    return "\n".join(line for shown in files for line in _lines(shown))


def _lines(shown: Shown) -> list[str]:
    why = "; ".join(shown.ranked.reasons)
    head = one_line(shown.ranked.path) + (f"  ({why})" if why else "")
    more = [f"        … {shown.more} more"] if shown.more and shown.symbols else []
    return [head, *(f"{symbol.line:6}  {indent(symbol)}{signature(symbol)}" for symbol in shown.symbols), *more]


def indent(symbol: Symbol) -> str:
    return "  " * symbol.name.count(".")


def signature(symbol: Symbol) -> str:
    return one_line(symbol.signature or symbol.name, SIGNATURE)
