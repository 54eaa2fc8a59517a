"""Statements about a project, cut to a number of tokens."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from afresh.core.truncate import to_one_line

MAX_PART_CHARACTERS = 240
"""Characters of one part: limits how much text of a repository's files gets into a prompt."""


@dataclass(frozen=True, slots=True)
class ProfileStatement:
    """`name: part; part; part.` The most important part comes first."""

    name: str
    parts: tuple[str, ...]
    weight: int = 10
    """Importance of the first part, relative to other statements; each further part has one less."""


def make_statement(name: str, parts: Sequence[str], weight: int = 10) -> list[ProfileStatement]:
    """Return a list with the statement; empty when there are no parts."""
    texts = tuple(to_one_line(part, MAX_PART_CHARACTERS) for part in parts if part.strip())
    return [ProfileStatement(name, texts, weight)] if texts else []


def fit_statements(statements: Sequence[ProfileStatement], cap: int, count: Callable[[str], int]) -> str:
    """Return as many statements as fit into `cap` tokens by the caller's own count; empty if not even one part fits."""
    kept = {(at, number) for at, statement in enumerate(statements) for number in range(len(statement.parts))}
    least = sorted(kept, key=lambda key: (statements[key[0]].weight - key[1], -key[0], -key[1]))
    for key in least:
        if count(text := render_statements(statements, kept)) <= cap:
            return text
        kept.discard(key)
    return ""


def render_statements(statements: Sequence[ProfileStatement], kept: set[tuple[int, int]]) -> str:
    lines = list[str]()
    for at, statement in enumerate(statements):
        if parts := [part for number, part in enumerate(statement.parts) if (at, number) in kept]:
            lines.append(f"{statement.name}: {'; '.join(parts)}")
    return "\n".join(lines)
