"""Choose lines of a text within a bound, and write them with their numbers and a mark for every gap. Pure."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from afresh.domain.partial.parts import RAISED_LINE, split_into_parts, is_structured_start
from afresh.domain.partial.terms import weigh_by_rarity, score_text, terms_from_question

MAX_LINE_CHARACTERS = 300
NEIGHBOUR_LINES = 3
HEAD_LINES = 12
TAIL_LINES = 12
MAX_PARAGRAPH_LINES = 12
MIN_SHARE_OF_BEST_SCORE = 0.3
TELLING_LINE = re.compile(r"error|exception|fail|traceback|warning|assert|passed|no such|not found|refused|denied", re.IGNORECASE)
CountTokens = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class OutputExcerpt:
    """`numbers` are those of the lines that are shown, from 1 on."""

    text: str
    numbers: tuple[int, ...]
    total: int

    @property
    def whole(self) -> bool:
        return len(self.numbers) == self.total


def select_lines_about(text: str, question: str, room: int, count: CountTokens) -> OutputExcerpt:
    """The parts that hold most of what is asked for, best first, in the order of the text. Empty when nothing holds any of it."""
    lines = text.splitlines()
    ranges = split_into_parts(lines)
    texts = ["\n".join(lines[start:end]).lower() for start, end in ranges]
    weights = weigh_by_rarity(terms_from_question(question), texts)
    ranked = sorted(((score_text(one, weights), -place) for place, one in enumerate(texts)), reverse=True)
    best = [ranges[-place] for points, place in ranked if points > ranked[0][0] * MIN_SHARE_OF_BEST_SCORE]
    wanted = [step for start, end in best for step in list_line_groups(lines, range(start, end), weights)]
    return fit_line_groups(lines, wanted, room, count, weights)


def list_line_groups(lines: Sequence[str], whole: range, weights: dict[str, float]) -> list[list[int]]:
    """The part as a whole, if it is one; and for when it does not fit, the lines that hold a word, with their neighbours."""
    hits = [number for number in whole if any(word in lines[number].lower() for word in weights)]
    near = sorted({n for hit in hits for n in range(hit - NEIGHBOUR_LINES, hit + NEIGHBOUR_LINES + 1) if n in whole})
    together = [list(whole)] if len(whole) <= MAX_PARAGRAPH_LINES or is_structured_start(lines[whole.start]) else []
    return [*together, near, *[[hit] for hit in hits]]


def select_outline(text: str, room: int, count: CountTokens) -> OutputExcerpt:
    """Beginning and end, then the lines between them that say how it went, then as much more as fits."""
    lines = text.splitlines()
    ends = [*range(min(HEAD_LINES, len(lines))), *range(max(0, len(lines) - TAIL_LINES), len(lines))]
    telling = [number for number, line in enumerate(lines) if RAISED_LINE.match(line.strip()) or TELLING_LINE.search(line)]
    wanted = [[number] for number in (*interleave_ends(ends), *telling, *range(len(lines)))]
    return fit_line_groups(lines, wanted, room, count)


def interleave_ends(ends: Sequence[int]) -> list[int]:
    """From both ends inwards, so that neither is lost to a small room."""
    middle = len(ends) // 2
    pairs = zip(ends[:middle], ends[middle:][::-1], strict=False)
    return [number for pair in pairs for number in pair] + list(ends)


def select_line_range(text: str, first: int, last: int, room: int, count: CountTokens) -> OutputExcerpt:
    """These lines, counted from 1, as far as there is room for them."""
    lines = text.splitlines()
    wanted = [[number] for number in range(max(1, first) - 1, min(last, len(lines)))]
    return fit_line_groups(lines, wanted, room, count, stop=True)


def fit_line_groups(
    lines: Sequence[str],
    wanted: Iterable[Sequence[int]],
    room: int,
    count: CountTokens,
    weights: Iterable[str] = (),
    stop: bool = False,
) -> OutputExcerpt:
    """Groups in order of want, as long as they fit; with `stop` nothing after the first that does not."""
    chosen: dict[int, str] = {}
    words, spent = tuple(weights), 0
    for group in wanted:
        new = {number: number_output_line(lines, number, words) for number in group if number not in chosen}
        cost = sum([count(line) + 1 for line in new.values()]) + (count(render_gap(1, len(lines))) + 1 if new else 0)
        if spent + cost <= room:
            chosen |= new
            spent += cost
        elif stop or room - spent < MIN_LINE_TOKENS:
            break
    text = render_chosen_lines(chosen, len(lines))
    while chosen and count(text) > room:
        chosen.popitem()
        text = render_chosen_lines(chosen, len(lines))
    return OutputExcerpt(text, tuple(number + 1 for number in sorted(chosen)), len(lines))


MIN_LINE_TOKENS = 8
"""Tokens that no line with its number goes below."""


def number_output_line(lines: Sequence[str], number: int, words: Sequence[str]) -> str:
    return f"{number + 1:>{len(str(len(lines)))}} {truncate_line_around_words(lines[number], words)}"


def truncate_line_around_words(line: str, words: Sequence[str]) -> str:
    """Of a very long line the place where the words stand."""
    if len(line) <= MAX_LINE_CHARACTERS:
        return line
    low = line.lower()
    at = min([place for word in words if (place := low.find(word)) >= 0], default=0)
    start = max(0, min(at - MAX_LINE_CHARACTERS // 3, len(line) - MAX_LINE_CHARACTERS))
    end = start + MAX_LINE_CHARACTERS
    return f"{'…' if start else ''}{line[start:end]}{'…' if end < len(line) else ''}"


def render_chosen_lines(chosen: dict[int, str], total: int) -> str:
    shown: list[str] = []
    expected = 0
    for number in sorted(chosen):
        if number > expected:
            shown.append(render_gap(expected + 1, number))
        shown.append(chosen[number])
        expected = number + 1
    if chosen and expected < total:
        shown.append(render_gap(expected + 1, total))
    return "\n".join(shown)


def render_gap(first: int, last: int) -> str:
    return f"… {f'lines {first}-{last}' if last > first else f'line {first}'}"
