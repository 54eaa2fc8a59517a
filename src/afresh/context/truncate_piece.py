"""A part of a piece that does not fit whole, which says what is missing and where it is. Pure."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import groupby
from math import log

from afresh.context.section import SectionPiece
from afresh.core.context_item import LineGap, ShownLine
from afresh.core.search_words import drop_stop_words, split_words, stem_word
from afresh.core.tokens import TokenCounter
from afresh.core.truncate import find_longest_fitting

MIN_PART_TOKENS = 60  # a part of a piece with fewer tokens is not shown
OPENING_LINES = 3  # lines at the beginning that say what a piece is
NEIGHBOUR_WEIGHT = 0.5  # what a line counts for that is next to one that matters
DOCSTRING_WEIGHT = 0.2  # what a line of a docstring counts for, beside one of code
MAX_UNMARKED_GAP_CHARACTERS = 100  # a shorter gap is shown instead of being marked
MIN_PART_CHARACTERS = 120  # of head and tail together, and of what is cut
MIN_CODE_LINES = 8

UNNUMBERED_GAP = "     …"


def rank_lines_by_need(text: str, spoken: str) -> tuple[int, ...]:
    """The lines of a piece by place: its beginning, then those that say the rarest of the words that the work speaks of, with
    those beside them."""
    lines = text.split("\n")
    wanted = {stem_word(word) for word in drop_stop_words(split_words(spoken))}
    said = [wanted.intersection(map(stem_word, split_words(line))) for line in lines]
    common = Counter(word for held in said for word in held)
    own = [sum(log(1 + len(lines) / common[word]) for word in held) for held in said]
    near = [max(own[max(0, at - 2) : at + 3]) * NEIGHBOUR_WEIGHT for at in range(len(lines))]
    prose = _find_docstring_lines(lines) if DOCSTRING_WEIGHT != 1 else frozenset[int]()
    worth = [(own[at] + near[at]) * (DOCSTRING_WEIGHT if at in prose else 1) for at in range(len(lines))]
    score = [worth[at] + (1_000 if at <= OPENING_LINES and at not in prose else 0) for at in range(len(lines))]
    return tuple(sorted(range(len(lines)), key=lambda at: (-score[at], at)))


def _find_docstring_lines(lines: Sequence[str]) -> frozenset[int]:
    """Places of lines in triple quotes, after a line that ends in a colon."""
    found, inside = set[int](), ""
    for at, line in enumerate(lines):
        opened = next((sign for sign in ('"""', "'''") if sign in line), "")
        if inside:
            found.add(at)
            inside = "" if inside in line else inside
        elif opened and at and lines[at - 1].rstrip().endswith(":"):
            found.add(at)
            inside = opened if line.count(opened) == 1 else ""
    return frozenset(found)


def _keep_chosen_lines(piece: SectionPiece, longest_gap: int, keep: int) -> SectionPiece:
    return piece.with_lines(tuple(join_gaps(mark_gaps(_list_lines(piece), set(piece.first[:keep]), longest_gap))))


def _list_lines(piece: SectionPiece) -> Sequence[ShownLine]:
    return piece.lines or piece.text.split("\n")


def mark_gaps(lines: Sequence[ShownLine], chosen: set[int], longest_gap: int) -> Iterator[ShownLine]:
    """One line for each gap with the numbers of what is missing; up to `longest_gap` characters are shown instead."""
    gone: list[ShownLine] = []
    for at, line in enumerate((*lines, "")):
        if at < len(lines) and at not in chosen:
            gone.append(line)
            continue
        if sum(len(str(one).strip()) for one in gone) > longest_gap:
            yield _join_gap(gone)
        else:
            yield from gone
        gone = []
        if at < len(lines):
            yield line


def join_gaps(lines: Iterable[ShownLine]) -> Iterator[ShownLine]:
    """Gaps that follow each other as one."""
    for is_gap, run in groupby(lines, lambda line: isinstance(line, LineGap)):
        found = list(run)
        yield from [_join_gap(found)] if is_gap else found


def _join_gap(lines: Sequence[ShownLine]) -> ShownLine:
    numbered = [line for line in lines if not isinstance(line, str)]
    return LineGap(numbered[0].number, numbered[-1].last) if numbered else UNNUMBERED_GAP


def truncate_piece(piece: SectionPiece, room: int, counter: TokenCounter) -> SectionPiece | None:
    """Head and tail, saying what is missing and where it is; nothing if too little would be left. At whole lines, unless that
    would leave most of the room empty. Of a piece that knows which of its lines matter, those."""

    def fits(part: SectionPiece) -> bool:
        return counter(part.text) <= room

    if piece.first:
        keep = partial(_keep_chosen_lines, piece, MAX_UNMARKED_GAP_CHARACTERS)
        return find_longest_fitting(keep, MIN_CODE_LINES, len(piece.first) - 1, fits)
    by_lines = find_longest_fitting(partial(_keep_whole_lines, piece), 2, len(piece.text.splitlines()) - 1, fits)
    if by_lines and 2 * counter(by_lines.text) >= room:
        return by_lines
    least = MIN_PART_CHARACTERS
    by_characters = find_longest_fitting(partial(_keep_characters, piece), least, len(piece.text) - least, fits)
    return max(filter(None, (by_lines, by_characters)), key=lambda part: len(part.text), default=None)


def _keep_whole_lines(piece: SectionPiece, keep: int) -> SectionPiece:
    """The first two thirds and the last third of them."""
    lines = piece.lines or piece.text.splitlines()
    head = keep - keep // 3
    hint = f"[… {len(lines) - keep} of {len(lines)} lines cut{_name_piece_source(piece)}]"
    return piece.with_lines((*lines[:head], hint, *lines[len(lines) - (keep - head) :]))


def _keep_characters(piece: SectionPiece, keep: int) -> SectionPiece:
    """The first two thirds and the last third of them; a line that is cut is no line of the file any more."""
    text, head = piece.text, keep - keep // 3
    tail = keep - head
    hint = f"[… {len(text) - keep:,} of {len(text):,} characters cut{_name_piece_source(piece)}]"
    lines = _list_lines(piece)
    whole, used = _count_whole_lines(lines, head)
    ended, left = _count_whole_lines(lines[::-1], tail)
    before = [*lines[:whole], *([text[used:head]] if used <= head else [])]
    after = [*([text[len(text) - tail : len(text) - left]] if left <= tail else []), *lines[len(lines) - ended :]]
    return piece.with_lines((*before, hint, *after))


def _count_whole_lines(lines: Sequence[ShownLine], most: int) -> tuple[int, int]:
    """How many of them fit into so many characters, and how many these take with their line ends."""
    used = 0
    for number, line in enumerate(lines):
        if used + len(str(line)) > most:
            return number, used
        used += len(str(line)) + 1
    return len(lines), used


def _name_piece_source(piece: SectionPiece) -> str:
    return f": {piece.source}" if piece.source else ""
