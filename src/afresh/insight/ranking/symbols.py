"""What matters in a file: symbols that the text names or speaks of, those that other files that matter use, and else those that
much of the tree does."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log1p

from afresh.domain.code import Kind, Symbol
from afresh.domain.words import stem
from afresh.insight.code import Code
from afresh.insight.ranking.asked import Asked
from afresh.insight.ranking.signals import Saying, rarity
from afresh.insight.said import stems

NAMED = 3.0
SPOKEN = 1.0
DESCRIBED = 0.4
USED = 0.1
QUALIFIED = 2.0
"""A name with its class is meant more than the class."""
KINDS = {Kind.CLASS: 1.0, Kind.INTERFACE: 1.0, Kind.FUNCTION: 0.9, Kind.METHOD: 0.6, Kind.CONSTANT: 0.3}
PRIVATE = 0.5
BEST = 10
"""Files whose use of a symbol speaks for it."""


@dataclass(frozen=True, slots=True)
class Aim:
    """What symbols are weighed against, worked out once for a question."""

    names: Mapping[str, float]
    words: Mapping[str, float]
    """By stem: how telling a word is in this tree, 1 for the most telling."""
    uses: Mapping[str, int]
    """How many of the files that matter most use an identifier."""
    definers: Mapping[str, int]
    """How many symbols of the ranked files have a name: use of one that many have tells little of each."""


def aim(code: Code, question: Asked, saying: Saying, ranked: Sequence[str]) -> Aim:
    worth = {stem(word): weight * rarity(len(saying[word]), len(code.files)) for word, weight in question.words.items()}
    top = max(worth.values(), default=0.0) or 1.0
    names = {name.rpartition(".")[2]: sure for name, sure in question.names.items()} | dict(question.names)
    uses = Counter(name for path in ranked[:BEST] for name in code.reading(path).mentions)
    definers = Counter(symbol.short for path in ranked for symbol in code.reading(path).symbols)
    return Aim(names, {word: value / top for word, value in worth.items()}, uses, definers)


def symbols(code: Code, at: Aim, path: str) -> tuple[Symbol, ...]:
    """Of one file, the weightiest first."""
    known = code.reading(path).symbols
    scores = [_score(code, at, symbol) for symbol in known]
    return tuple(known[number] for number in sorted(range(len(known)), key=lambda number: (-scores[number], number)))


def _score(code: Code, at: Aim, symbol: Symbol) -> float:
    named = max(QUALIFIED * at.names.get(symbol.name, 0.0) if "." in symbol.name else 0.0, at.names.get(symbol.short, 0.0))
    spoken = sum(at.words.get(word, 0.0) for word in stems(symbol.short))
    described = sum(at.words.get(word, 0.0) for word in {*stems(symbol.doc), *stems(symbol.signature)}) if at.words else 0.0
    used = (at.uses.get(symbol.short, 0) if at.words else _users(code, symbol)) / at.definers[symbol.short]
    kind = KINDS[symbol.kind] * (1.0 if symbol.public else PRIVATE)
    return NAMED * named + SPOKEN * spoken + DESCRIBED * described + USED * kind * (1 + log1p(used))


def _users(code: Code, symbol: Symbol) -> int:
    """Files of the whole tree that use it. Asked only of what is offered to others."""
    return len(code.mentioning(symbol.short)) if symbol.public and "." not in symbol.name else 0
