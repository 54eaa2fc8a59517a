"""What is said of a project, a type or a task: statements, cut to fit by leaving out what matters least."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from afresh.domain.text import to_one_line

MAX_PART_CHARACTERS = 240
"""Characters of one part: what a repository writes into its files goes no further."""
CountTokens = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class ProfileStatement:
    """`name: part; part; part.` The parts come in the order of how much they matter."""

    name: str
    parts: tuple[str, ...]
    weight: int = 10
    """How much worse it is to leave it out than the last part of another; parts lose one for each before them."""

    @property
    def text(self) -> str:
        return f"{self.name}: {'; '.join(self.parts)}"


def make_statement(name: str, parts: Sequence[str], weight: int = 10) -> list[ProfileStatement]:
    """None when there is nothing to say."""
    said = tuple(to_one_line(part, MAX_PART_CHARACTERS) for part in parts if part.strip())
    return [ProfileStatement(name, said, weight)] if said else []


def fit_statements(statements: Sequence[ProfileStatement], cap: int, count: CountTokens) -> str:
    """At most `cap` tokens by the caller's own count, whatever that count is like; empty if not even one part fits."""
    kept = {(at, number) for at, one in enumerate(statements) for number in range(len(one.parts))}
    order = sorted(kept, key=lambda key: (statements[key[0]].weight - key[1], -key[0], -key[1]))
    text = render_statements(statements, kept)
    for key in order:
        if count(text) <= cap:
            return text
        kept.discard(key)
        text = render_statements(statements, kept)
    return ""


def render_statements(statements: Sequence[ProfileStatement], kept: set[tuple[int, int]]) -> str:
    lines = list[str]()
    for at, one in enumerate(statements):
        if parts := [part for number, part in enumerate(one.parts) if (at, number) in kept]:
            lines.append(f"{one.name}: {'; '.join(parts)}")
    return "\n".join(lines)
