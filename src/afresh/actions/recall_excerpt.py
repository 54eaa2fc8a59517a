"""Choose lines of a text within a bound, and write them with their numbers and a mark for every gap. Pure."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log

from afresh.core.command_output import TELLING_LINE

MAX_PART_LINES = 30
SHORT_PARAGRAPH_LINES = 4
"""Lines of a part at most; and of a paragraph that goes with the next one of its kind."""
DEFINITION_LINE = re.compile(
    r"\s*(?:@\w|(?:(?:export|public|static|async|pub)\s+)*(?:def|class|func|function|fn|impl|struct|interface)\s+\w)"
)
TITLE_LINE = re.compile(
    r"(?:_{3,}|={3,}|-{5,}) .+ (?:_{3,}|={3,}|-{5,})$|(?:FAIL|ERROR): \S|diff --git |@@ |\$ \S|commit [0-9a-f]{7,}|#{1,4} \S"
)
TRACEBACK_LINE = re.compile(r"\s*(?:Traceback \(most recent call last\)|The above exception|During handling of)")
FRAME_LINE = re.compile(r"\s*File \"[^\"]+\", line \d+")
RAISED_LINE = re.compile(r"[A-Za-z_][\w.]*(?:Error|Exception|Warning|Interrupt|Exit)\b")


def split_into_parts(lines: Sequence[str]) -> list[tuple[int, int]]:
    """First line and the one after the last, counted from 0; they cover the text in order."""
    starts = [number for number in range(len(lines)) if not number or is_part_start(lines, number)]
    found: list[tuple[int, int]] = []
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=False):
        found += split_long_part(start, end)
    return found


def is_part_start(lines: Sequence[str], number: int) -> bool:
    line, above = lines[number], lines[number - 1]
    if FRAME_LINE.match(line):
        return not TRACEBACK_LINE.match(above)
    if TITLE_LINE.match(line) or TRACEBACK_LINE.match(line):
        return True
    if DEFINITION_LINE.match(line):
        return not above.lstrip().startswith("@")
    return (
        not above.strip() and bool(line.strip()) and count_indentation(line) <= count_indentation(find_line_above(lines, number))
    )


def is_structured_start(line: str) -> bool:
    """Whether what begins so belongs together, however long."""
    return any(mark.match(line) for mark in (FRAME_LINE, TITLE_LINE, TRACEBACK_LINE, DEFINITION_LINE))


def find_line_above(lines: Sequence[str], number: int) -> str:
    """The last line before this one that says something, near enough to matter."""
    return next((line for line in reversed(lines[max(0, number - SHORT_PARAGRAPH_LINES) : number]) if line.strip()), "")


def count_indentation(line: str) -> int:
    return len(line) - len(line.lstrip())


def split_long_part(start: int, end: int) -> Iterator[tuple[int, int]]:
    for at in range(start, end, MAX_PART_LINES):
        yield at, min(end, at + MAX_PART_LINES)


QUESTION_WORD = re.compile(r"[^\W_]\w*(?:[./-]\w+)*")
INNER_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\da-zA-Z_]+")
MIN_TERM_CHARACTERS = 3
WHOLE_WORD_WEIGHT = 3.0
INNER_WORD_WEIGHT = 1.0
MAX_COUNTED_OCCURRENCES = 3
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


def weigh_by_rarity(wanted: Mapping[str, float], texts: list[str]) -> dict[str, float]:
    """Weight of each word against the texts that could be shown: what stands in all of them tells nothing."""
    number = len(texts)
    held = {word: sum(word in text for text in texts) for word in wanted}
    return {word: weight * log(1 + (number - held[word] + 0.5) / (held[word] + 0.5)) for word, weight in wanted.items()}


def score_text(text: str, weights: Mapping[str, float]) -> float:
    """More kinds of words count for more than the same one again."""
    return sum(
        [
            weight * (1 + 0.2 * (min(text.count(word), MAX_COUNTED_OCCURRENCES) - 1))
            for word, weight in weights.items()
            if word in text
        ]
    )


MAX_LINE_CHARACTERS = 300
NEIGHBOUR_LINES = 3
HEAD_LINES = 12
TAIL_LINES = 12
MAX_PARAGRAPH_LINES = 12
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
