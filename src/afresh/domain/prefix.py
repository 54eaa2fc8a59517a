"""How far a call begins as the one before it did, to the byte: what a provider's cache can serve for a tenth of the price."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile

from afresh.domain.template import BREAKS, SECTIONS
from afresh.domain.window import Section

FIRST = ("tools", "system")
"""Providers put the tools before the system text."""
ENDS = tuple(SECTIONS.index(name) for name in BREAKS)
STABLE = ENDS[-1]
"""The place of the last section before the last break."""


@dataclass(frozen=True, slots=True)
class Beginning:
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


def sent(sections: Sequence[Section]) -> list[Section]:
    """As they follow each other on the wire."""
    first = sorted((one for one in sections if one.name in FIRST), key=lambda one: FIRST.index(one.name))
    return [*first, *[one for one in sections if one.name not in FIRST]]


def beginning(step: int, before: Sequence[Section], after: Sequence[Section]) -> Beginning:
    new, old = sent(after), sent(before)
    alike = list(takewhile(lambda pair: same(*pair), zip(new, old, strict=False)))
    named = new[len(alike)].name if before and len(alike) < len(new) else ""
    held = [one for one, _ in alike]
    marked = [number for number in range(1, len(held) + 1) if ends(new, number)]
    tokens = [one.tokens for one in held]
    return Beginning(step, sum(one.tokens for one in new), sum(tokens), sum(tokens[: marked[-1] if marked else 0]), named)


def same(one: Section, other: Section) -> bool:
    return one.name == other.name and one.text == other.text


def ends(sections: Sequence[Section], number: int) -> bool:
    """Whether a break stands after so many of the sections."""
    last = sections[number - 1].name
    if last in FIRST or number == len(sections):
        return last == FIRST[-1]
    return broken(last, sections[number].name)


def broken(last: str, following: str) -> bool:
    """Whether a break lies between two sections that follow each other."""
    here = place(last)
    return any(here <= end < place(following) for end in ENDS)


def place(name: str) -> int:
    """The footer stands last."""
    return SECTIONS.index(name) if name in SECTIONS else len(SECTIONS)


def moves(name: str) -> bool:
    """Whether it stands behind the last break."""
    return name not in FIRST and place(name) > STABLE


def breaks(sections: Sequence[Section], between: str) -> tuple[int, ...]:
    """Offsets in the message that these sections make up, joined by `between`; each where a section ends."""
    found, length = list[int](), 0
    for one, following in pairwise(sections):
        length += len(one.text)
        if broken(one.name, following.name):
            found.append(length)
        length += len(between)
    return tuple(found)
