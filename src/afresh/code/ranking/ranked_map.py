"""A map of the code for a question: files in order with reasons, below each what matters in it, never over a cap of tokens."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from afresh.code.index.code_index import CodeIndex
from afresh.code.ranking.query import RankedFile, RankingQuery
from afresh.code.ranking.rank_files import rank_files_cached
from afresh.core.symbol import Symbol
from afresh.core.truncate import to_one_line

MAX_SIGNATURE_CHARACTERS = 120
SYMBOL_DECAY = 0.82
"""Worth of each further symbol of a file, against the one before: the best of a lesser file comes before the last of a better."""
MIN_LINE_TOKENS = 4
TYPICAL_FILE_TOKENS = 40
"""Tokens that a line takes at least, and a file with its reasons and symbols about: what a cap can have no room for is not
looked at."""
MAX_SYMBOLS_PER_FILE = 60
"""Symbols of one file."""


@dataclass(frozen=True, slots=True)
class RankedMapFile:
    """A file of the map, and the symbols of it that there is room for, in reading order."""

    ranked: RankedFile
    symbols: tuple[Symbol, ...]

    @property
    def more(self) -> int:
        return len(self.ranked.symbols) - len(self.symbols)


def select_map_files(code: CodeIndex, question: RankingQuery, tokens: int, count: Callable[[str], int]) -> list[RankedMapFile]:
    """What there is room for. The worth of a line falls with its file's score and its place in it; the lines worth most are
    taken as long as the text that they make fits."""
    files = rank_files_cached(code, question, tokens // TYPICAL_FILE_TOKENS + 3) if tokens > 0 else []
    lines = sorted(
        (-ranked.score * SYMBOL_DECAY**number, place, number)
        for place, ranked in enumerate(files)
        for number in range(min(len(ranked.symbols), MAX_SYMBOLS_PER_FILE) + 1)
    )[: tokens // MIN_LINE_TOKENS + 1]
    low, high = 0, len(lines)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (
            (middle, high) if count(render_map_files(_files_from_lines(files, lines[:middle]))) <= tokens else (low, middle - 1)
        )
    while low and count(render_map_files(_files_from_lines(files, lines[:low]))) > tokens:
        low -= 1
    return _files_from_lines(files, lines[:low])


def _files_from_lines(files: Sequence[RankedFile], lines: Sequence[tuple[float, int, int]]) -> list[RankedMapFile]:
    """A file's own line is number 0 and worth more than any of its symbols, so it is there when one of them is."""
    counts: dict[int, int] = {}
    for _, place, number in lines:
        counts[place] = max(counts.get(place, 0), number)
    return [RankedMapFile(files[place], _with_owners(files[place].symbols, taken)) for place, taken in sorted(counts.items())]


def _with_owners(symbols: Sequence[Symbol], taken: int) -> tuple[Symbol, ...]:
    """The first of them, and the classes and functions that they stand in, in reading order."""
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
