"""Choose lines of a text within a bound, and write them with their numbers and a mark for every gap. Pure."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import log

from afresh.core.command_output import TELLING_LINE

RAISED_LINE = re.compile(r"[A-Za-z_][\w.]*(?:Error|Exception|Warning|Interrupt|Exit)\b")
QUESTION_WORD = re.compile(r"[^\W_]\w*(?:[./-]\w+)*")
INNER_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\da-zA-Z_]+")
MIN_TERM_CHARACTERS = 3
WHOLE_WORD_WEIGHT = 3.0
INNER_WORD_WEIGHT = 1.0
EMPTY_WORDS = frozenset(
    ("the", "and", "for", "was", "were", "what", "which", "who", "how", "why", "did", "does", "not", "with", "that", "this",
     "from", "are", "all", "any", "has", "have", "had", "where", "when", "there")
)  # fmt: skip


def terms_from_question(question: str) -> dict[str, float]:
    """Words and identifiers in lower case, each with its weight; the words inside an identifier count for less."""
    found: dict[str, float] = {}
    for word in QUESTION_WORD.findall(question):
        parts = [part.lower() for part in INNER_WORD.findall(word)]
        if is_useful_term(word.lower()):
            found[word.lower()] = WHOLE_WORD_WEIGHT
        for part in parts:
            if is_useful_term(part):
                found.setdefault(part, INNER_WORD_WEIGHT)
    return found


def is_useful_term(word: str) -> bool:
    return len(word) >= MIN_TERM_CHARACTERS and word not in EMPTY_WORDS


MAX_LINE_CHARACTERS = 300
NEIGHBOUR_LINES = 3
HEAD_LINES = 12
TAIL_LINES = 12
MIN_SHARE_OF_BEST_SCORE = 0.3
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
    """The lines that hold what is asked for, each with its neighbours, those first that hold the most and the rarest words close
    together. Empty when no line holds any of it."""
    lines = text.splitlines()
    low = [line.lower() for line in lines]
    counts = {word: (sum(word in line for line in low), weight) for word, weight in terms_from_question(question).items()}
    weights = {word: weight * log(1 + len(lines) / held) for word, (held, weight) in counts.items() if held}
    near = {
        number: range(max(0, number - NEIGHBOUR_LINES), min(len(lines), number + NEIGHBOUR_LINES + 1))
        for number, line in enumerate(low)
        if any(word in line for word in weights)
    }
    points = {
        hit: sum(weight for word, weight in weights.items() if any(word in low[number] for number in around))
        + sum(weight for word, weight in weights.items() if word in low[hit])
        for hit, around in near.items()
    }
    best = sorted(points, key=lambda hit: (-points[hit], hit))
    best = [hit for hit in best if points[hit] > points[best[0]] * MIN_SHARE_OF_BEST_SCORE]
    return fit_line_groups(lines, [group for hit in best for group in (near[hit], [hit])], room, count, weights)


def select_outline(text: str, room: int, count: CountTokens) -> OutputExcerpt:
    """Beginning and end, then the lines between them that say how it went, then as much more as fits."""
    lines = text.splitlines()
    ends = [*range(min(HEAD_LINES, len(lines))), *range(max(0, len(lines) - TAIL_LINES), len(lines))]
    telling = [number for number, line in enumerate(lines) if RAISED_LINE.match(line.strip()) or TELLING_LINE.search(line)]
    wanted = [[number] for number in (*interleave_ends(ends), *telling, *range(len(lines)))]
    return fit_line_groups(lines, wanted, room, count)


def interleave_ends(ends: Sequence[int]) -> list[int]:
    """Take the ends in turn, first and last, so that a small limit loses neither."""
    middle = len(ends) // 2
    pairs = zip(ends[:middle], ends[middle:][::-1], strict=False)
    return [number for pair in pairs for number in pair] + list(ends)


def select_line_range(text: str, first: int, last: int, room: int, count: CountTokens) -> OutputExcerpt:
    """These lines, counted from 1, until the limit is reached."""
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
    """Of a very long line only the part around the words."""
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
