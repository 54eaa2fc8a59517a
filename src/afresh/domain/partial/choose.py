"""Choose lines of a text within a bound, and write them with their numbers and a mark for every gap. Pure."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from afresh.domain.partial.parts import RAISED, parts, structured
from afresh.domain.partial.terms import rarity, score, terms

LONG_LINE = 300
AROUND = 3
HEAD = 12
TAIL = 12
PARAGRAPH = 12
WORTH = 0.3
TELLING = re.compile(r"error|exception|fail|traceback|warning|assert|passed|no such|not found|refused|denied", re.IGNORECASE)
Count = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class Excerpt:
    """`numbers` are those of the lines that are shown, from 1 on."""

    text: str
    numbers: tuple[int, ...]
    total: int

    @property
    def whole(self) -> bool:
        return len(self.numbers) == self.total


def about(text: str, question: str, room: int, count: Count) -> Excerpt:
    """The parts that hold most of what is asked for, best first, in the order of the text. Empty when nothing holds any of it."""
    lines = text.splitlines()
    ranges = parts(lines)
    texts = ["\n".join(lines[start:end]).lower() for start, end in ranges]
    weights = rarity(terms(question), texts)
    ranked = sorted(((score(one, weights), -place) for place, one in enumerate(texts)), reverse=True)
    best = [ranges[-place] for points, place in ranked if points > ranked[0][0] * WORTH]
    wanted = [step for start, end in best for step in around(lines, range(start, end), weights)]
    return fitted(lines, wanted, room, count, weights)


def around(lines: Sequence[str], whole: range, weights: dict[str, float]) -> list[list[int]]:
    """The part as a whole, if it is one; and for when it does not fit, the lines that hold a word, with their neighbours."""
    hits = [number for number in whole if any(word in lines[number].lower() for word in weights)]
    near = sorted({n for hit in hits for n in range(hit - AROUND, hit + AROUND + 1) if n in whole})
    together = [list(whole)] if len(whole) <= PARAGRAPH or structured(lines[whole.start]) else []
    return [*together, near, *[[hit] for hit in hits]]


def outline(text: str, room: int, count: Count) -> Excerpt:
    """Beginning and end, then the lines between them that say how it went, then as much more as fits."""
    lines = text.splitlines()
    ends = [*range(min(HEAD, len(lines))), *range(max(0, len(lines) - TAIL), len(lines))]
    telling = [number for number, line in enumerate(lines) if RAISED.match(line.strip()) or TELLING.search(line)]
    wanted = [[number] for number in (*interleaved(ends), *telling, *range(len(lines)))]
    return fitted(lines, wanted, room, count)


def interleaved(ends: Sequence[int]) -> list[int]:
    """From both ends inwards, so that neither is lost to a small room."""
    middle = len(ends) // 2
    pairs = zip(ends[:middle], ends[middle:][::-1], strict=False)
    return [number for pair in pairs for number in pair] + list(ends)


def between(text: str, first: int, last: int, room: int, count: Count) -> Excerpt:
    """These lines, counted from 1, as far as there is room for them."""
    lines = text.splitlines()
    wanted = [[number] for number in range(max(1, first) - 1, min(last, len(lines)))]
    return fitted(lines, wanted, room, count, stop=True)


def fitted(
    lines: Sequence[str],
    wanted: Iterable[Sequence[int]],
    room: int,
    count: Count,
    weights: Iterable[str] = (),
    stop: bool = False,
) -> Excerpt:
    """Groups in order of want, as long as they fit; with `stop` nothing after the first that does not."""
    chosen: dict[int, str] = {}
    words, spent = tuple(weights), 0
    for group in wanted:
        new = {number: numbered(lines, number, words) for number in group if number not in chosen}
        cost = sum([count(line) + 1 for line in new.values()]) + (count(gap(1, len(lines))) + 1 if new else 0)
        if spent + cost <= room:
            chosen |= new
            spent += cost
        elif stop or room - spent < SMALLEST:
            break
    text = written(chosen, len(lines))
    while chosen and count(text) > room:
        chosen.popitem()
        text = written(chosen, len(lines))
    return Excerpt(text, tuple(number + 1 for number in sorted(chosen)), len(lines))


SMALLEST = 8
"""Tokens that no line with its number goes below."""


def numbered(lines: Sequence[str], number: int, words: Sequence[str]) -> str:
    return f"{number + 1:>{len(str(len(lines)))}} {shortened(lines[number], words)}"


def shortened(line: str, words: Sequence[str]) -> str:
    """Of a very long line the place where the words stand."""
    if len(line) <= LONG_LINE:
        return line
    low = line.lower()
    at = min([place for word in words if (place := low.find(word)) >= 0], default=0)
    start = max(0, min(at - LONG_LINE // 3, len(line) - LONG_LINE))
    end = start + LONG_LINE
    return f"{'…' if start else ''}{line[start:end]}{'…' if end < len(line) else ''}"


def written(chosen: dict[int, str], total: int) -> str:
    shown: list[str] = []
    expected = 0
    for number in sorted(chosen):
        if number > expected:
            shown.append(gap(expected + 1, number))
        shown.append(chosen[number])
        expected = number + 1
    if chosen and expected < total:
        shown.append(gap(expected + 1, total))
    return "\n".join(shown)


def gap(first: int, last: int) -> str:
    return f"… {f'lines {first}-{last}' if last > first else f'line {first}'}"
