"""What matters in a file: symbols that the text names or speaks of, those that other files that matter use, and else those that
much of the tree does."""

from collections.abc import Mapping, Set
from dataclasses import dataclass
from math import log1p

from afresh.domain.code import Kind, Symbol
from afresh.domain.words import split, stem, telling
from afresh.insight.code import Code
from afresh.insight.ranking.asked import Asked
from afresh.insight.ranking.signals import rarity

NAMED, SPOKEN, DESCRIBED, MATCHING, USED = 3.0, 1.0, 0.4, 0.1, 0.1
QUALIFIED = 2.0
"""A name with its class is meant more than the class."""
KINDS = {Kind.CLASS: 1.0, Kind.INTERFACE: 1.0, Kind.FUNCTION: 0.9, Kind.METHOD: 0.6, Kind.CONSTANT: 0.3}
PRIVATE = 0.5


@dataclass(frozen=True, slots=True)
class Aim:
    """What symbols are weighed against, worked out once for a question."""

    names: Mapping[str, float]
    words: Mapping[str, float]
    """By stem: how telling a word is in this tree, 1 for the most telling."""
    best: Set[str]
    """Files that matter most."""


def aim(code: Code, question: Asked, best: Set[str]) -> Aim:
    worth = {stem(word): weight * rarity(len(code.words(word)), len(code.files)) for word, weight in question.words.items()}
    top = max(worth.values(), default=0.0) or 1.0
    names = {name.rpartition(".")[2]: sure for name, sure in question.names.items()} | dict(question.names)
    return Aim(names, {word: value / top for word, value in worth.items()}, best)


def symbols(code: Code, at: Aim, path: str) -> tuple[Symbol, ...]:
    """Of one file, the weightiest first."""
    known = code.reading(path).symbols
    scores = [_score(code, at, symbol, path) for symbol in known]
    return tuple(known[number] for number in sorted(range(len(known)), key=lambda number: (-scores[number], number)))


def _score(code: Code, at: Aim, symbol: Symbol, path: str) -> float:
    named = max(QUALIFIED * at.names.get(symbol.name, 0.0) if "." in symbol.name else 0.0, at.names.get(symbol.short, 0.0))
    spoken = sum(at.words.get(word, 0.0) for word in _stems(symbol.short))
    described = sum(at.words.get(word, 0.0) for word in _stems(f"{symbol.doc} {symbol.signature}")) if at.words else 0.0
    holders, definers = code.mentioning(symbol.short), max(1, len(code.defining(symbol.short)))
    matching = sum(holder in at.best and holder != path for holder in holders) / definers
    used = log1p(len(holders) / definers)
    kind = KINDS[symbol.kind] * (1.0 if symbol.public else PRIVATE)
    return NAMED * named + SPOKEN * spoken + DESCRIBED * described + kind * (MATCHING * matching + USED * used)


def _stems(text: str) -> set[str]:
    return {stem(word) for word in telling(split(text))}
