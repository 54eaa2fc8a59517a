"""How far a call begins as the one before it did, to the byte: what a provider's cache can serve for a tenth of the price."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile

from afresh.core.prompt import FOOTER_SECTION, TURN_SECTION, Section
from afresh.core.template import CACHE_BREAK_SECTIONS, SECTION_ORDER

SECTIONS_SENT_FIRST = ("tools", "system")
"""Providers put the tools before the system text."""
SECTION_POSITIONS = {name: position for position, name in enumerate(SECTION_ORDER)}
BREAK_POSITIONS = tuple(map(SECTION_ORDER.index, CACHE_BREAK_SECTIONS))


def find_section_position(name: str) -> int:
    """The footer comes last."""
    return SECTION_POSITIONS.get(name, len(SECTION_ORDER))


@dataclass(frozen=True, slots=True)
class PrefixComparison:
    """Of one call, against the one before it."""

    step: int
    tokens: int
    """In sections: what providers put around them is in no cache's favour."""
    same: int
    """Tokens of sections that stand unchanged at the beginning, whole."""
    cacheable: int
    """Of these, what lies before the last break."""
    changed: str = ""
    """The first section that differs; empty for a call that has none before it."""

    @property
    def share(self) -> float:
        return self.cacheable / self.tokens if self.tokens else 0.0


def order_as_sent(sections: Sequence[Section]) -> list[Section]:
    """As they follow each other on the wire."""
    first = sorted(
        (one for one in sections if one.name in SECTIONS_SENT_FIRST), key=lambda one: SECTIONS_SENT_FIRST.index(one.name)
    )
    return [*first, *[one for one in sections if one.name not in SECTIONS_SENT_FIRST]]


def compare_prefix(step: int, before: Sequence[Section], after: Sequence[Section]) -> PrefixComparison:
    new, old = order_as_sent(after), order_as_sent(before)
    alike = list(takewhile(lambda pair: is_same_section(*pair), zip(new, old, strict=False)))
    named = new[len(alike)].name if before and len(alike) < len(new) else ""
    held = [one for one, _ in alike]
    marked = [number for number in range(1, len(held) + 1) if is_break_after(new, number)]
    tokens = [one.tokens for one in held]
    return PrefixComparison(step, sum(one.tokens for one in new), sum(tokens), sum(tokens[: marked[-1] if marked else 0]), named)


def is_same_section(one: Section, other: Section) -> bool:
    return one.name == other.name and one.text == other.text


def is_break_after(sections: Sequence[Section], number: int) -> bool:
    """Whether a break stands after so many of the sections. Each turn ends with one, and what comes before the first."""
    last = sections[number - 1].name
    if last in SECTIONS_SENT_FIRST or number == len(sections):
        return last == SECTIONS_SENT_FIRST[-1]
    following = sections[number].name
    return following in (TURN_SECTION, FOOTER_SECTION) or is_break_between(last, following)


def is_break_between(last: str, following: str) -> bool:
    """Whether a break lies between two sections that follow each other."""
    here, then = find_section_position(last), find_section_position(following)
    return any(here <= end < then for end in BREAK_POSITIONS)


def is_volatile_section(name: str) -> bool:
    """Whether it comes after the last break."""
    return name not in SECTIONS_SENT_FIRST and find_section_position(name) > BREAK_POSITIONS[-1]


def find_break_offsets(sections: Sequence[Section], between: str) -> tuple[int, ...]:
    """Offsets in the message that these sections make up, joined by `between`; each where a section ends."""
    found, length = list[int](), 0
    for one, following in pairwise(sections):
        length += len(one.text)
        if is_break_between(one.name, following.name):
            found.append(length)
        length += len(between)
    return tuple(found)
