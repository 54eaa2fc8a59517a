"""How much of what calls were sent the replies drew on, by section.

A line is drawn on if the reply or the one after it repeats the line whole, or says a word of it that few lines of the prompt
have. It is a measure by text alone: what a model took in without repeating it is not seen.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise
from typing import Any, cast

from afresh.core.action import Action
from afresh.core.prompt import Section
from afresh.memory.history.names import find_long_words

MIN_LINE_CHARACTERS = 20
"""A shorter line may be repeated by accident."""
MAX_LINES_OF_A_WORD = 3
"""A word that more lines of the prompt have does not say which of them was used."""
DIGITS = "0123456789"


@dataclass(frozen=True, slots=True)
class SectionYield:
    name: str
    tokens: float = 0.0
    drawn: float = 0.0
    """Of the tokens, those in lines that were drawn on."""

    @property
    def share(self) -> float:
        return self.drawn / self.tokens if self.tokens else 0.0

    def __add__(self, other: "SectionYield") -> "SectionYield":
        return SectionYield(self.name, self.tokens + other.tokens, self.drawn + other.drawn)


@dataclass(frozen=True, slots=True)
class AnsweredCall:
    step: int
    sections: tuple[Section, ...]
    reply: str
    """What its actions say."""


@dataclass(frozen=True, slots=True)
class CallYield:
    """Of one call: all that it sent, and the text that it was the first to send. A text that is sent again with the next call
    counts once, and is drawn on if any reply does so until it is no longer sent."""

    step: int
    sections: tuple[SectionYield, ...]
    new: tuple[SectionYield, ...] = ()


@dataclass(frozen=True, slots=True)
class MeasuredLine:
    place: int
    """Of its section in the prompt."""
    section: str
    text: str
    tokens: float
    drawn: bool


@dataclass(slots=True)
class FirstSending:
    """A line, where it was sent first."""

    step: int
    section: str
    tokens: float
    drawn: bool = False


def render_reply_words(actions: Sequence[Action]) -> str:
    """All names and texts in the arguments of a reply's actions."""
    return "\n".join(text for action in actions for text in _iterate_texts(action.args))


def _iterate_texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name, held in cast("Mapping[str, Any]", value).items():
            yield name
            yield from _iterate_texts(held)
    elif isinstance(value, Sequence):
        for held in cast("Sequence[Any]", value):
            yield from _iterate_texts(held)


def measure_lines(sections: Sequence[Section], said: str) -> list[MeasuredLine]:
    """The lines of a prompt, each with its part of the section's tokens, and whether `said` draws on it."""
    texts = [[line for line in section.text.splitlines() if line.strip()] for section in sections]
    spread = Counter(word for lines in texts for line in lines for word in set(find_long_words(line)))
    repeated = {line.strip() for line in said.splitlines() if len(line.strip()) >= MIN_LINE_CHARACTERS}
    telling = {word for word in find_long_words(said) if spread[word] <= MAX_LINES_OF_A_WORD}
    found = list[MeasuredLine]()
    for place, (section, lines) in enumerate(zip(sections, texts, strict=True)):
        size = sum(map(len, lines))
        for line in lines:
            drawn = drop_line_number(line) in repeated or not telling.isdisjoint(find_long_words(line))
            found.append(MeasuredLine(place, section.name, line, section.tokens * len(line) / size, drawn))
    return found


def drop_line_number(line: str) -> str:
    """The line of a file without the number and the mark that excerpts put before it."""
    marked = line.lstrip(" +")
    bare = marked.lstrip(DIGITS)
    return bare.removeprefix(":").strip() if bare != marked else marked.strip()


def measure_call(sections: Sequence[Section], said: str) -> list[SectionYield]:
    """The yield of each section of a call, in the order of its prompt."""
    found = [SectionYield(section.name) for section in sections]
    for line in measure_lines(sections, said):
        found[line.place] += to_section_yield(line)
    return found


def to_section_yield(line: MeasuredLine | FirstSending) -> SectionYield:
    return SectionYield(line.section, line.tokens, line.tokens if line.drawn else 0.0)


def add_by_section(yields: Iterable[SectionYield]) -> tuple[SectionYield, ...]:
    found: dict[str, SectionYield] = {}
    for one in yields:
        found[one.name] = found.get(one.name, SectionYield(one.name)) + one
    return tuple(found.values())


@dataclass(slots=True)
class LineRecords:
    """Which lines are being sent, and where each was sent first."""

    sent: dict[tuple[str, int], FirstSending] = field(default_factory=dict[tuple[str, int], FirstSending])
    """By the line and how often the same prompt had it before."""
    firsts: list[FirstSending] = field(default_factory=list[FirstSending])

    def note(self, step: int, lines: Sequence[MeasuredLine]) -> None:
        still: dict[tuple[str, int], FirstSending] = {}
        seen = Counter[str]()
        for line in lines:
            key = line.text, seen[line.text]
            seen[line.text] += 1
            first = self.sent.get(key)
            if first is None:
                first = FirstSending(step, line.section, line.tokens)
                self.firsts.append(first)
            first.drawn = first.drawn or line.drawn
            still[key] = first
        self.sent = still


def measure_yields(calls: Iterable[AnsweredCall]) -> list[CallYield]:
    """The yield of each call of a task, given all that were answered, in order."""
    records, found = LineRecords(), list[tuple[int, tuple[SectionYield, ...]]]()
    for call, following in pairwise(chain(calls, (None,))):
        assert call, "only the last one is none"
        lines = measure_lines(call.sections, f"{call.reply}\n{following.reply if following else ''}")
        records.note(call.step, lines)
        found.append((call.step, add_by_section(map(to_section_yield, lines))))
    new: dict[int, list[SectionYield]] = {}
    for first in records.firsts:
        new.setdefault(first.step, []).append(to_section_yield(first))
    return [CallYield(step, sections, add_by_section(new.get(step, ()))) for step, sections in found]
