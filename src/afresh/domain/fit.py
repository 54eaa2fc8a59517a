"""Whether something that was learnt fits a task. A text that has little to do with it costs room in a window and the reader's
trust, so what is not clearly near is not shown at all."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from afresh.domain.words import compounds, split, stem, telling

GENERAL = frozenset(
    stem(word)
    for word in (
        "accept", "actual", "add", "allow", "always", "api", "app", "argument", "assertion", "assertionerror",
        "attributeerror", "behave", "behaviour", "bug", "build", "call", "case", "cause", "change", "check", "class", "clean",
        "code", "com", "command", "config", "correct", "create", "data", "default", "description", "different", "doc", "doesn",
        "don", "ensure", "error", "example", "exception", "expect", "expected", "fail", "failure", "false", "feature", "file",
        "find", "first", "fix", "follow", "function", "give", "good", "handle", "http", "https", "implement", "import",
        "importerror", "improve", "index", "indexerror", "init", "input", "instead", "isn", "issue", "item", "keep",
        "keyerror", "last", "lib", "line", "list", "main", "mend", "method", "missing", "model", "module",
        "modulenotfounderror", "name", "nameerror", "need", "new", "none", "number", "object", "old", "option", "org",
        "output", "package", "parameter", "pass", "path", "point", "print", "problem", "project", "property", "py", "python",
        "raise", "read", "refactor", "remove", "rename", "repo", "report", "result", "return", "right", "run", "runtimeerror",
        "self", "set", "show", "simple", "source", "spec", "src", "step", "string", "support", "sure", "syntaxerror", "task",
        "test", "testcase", "text", "thing", "traceback", "true", "try", "type", "typeerror", "unit", "unittest", "update",
        "use", "user", "using", "value", "valueerror", "variable", "version", "way", "whole", "won", "word", "work", "write",
        "wrong", "www",
    )
)  # fmt: skip
"""What tasks of every kind speak of: it counts a little, and never alone."""
LITTLE = 0.2
PLAIN = 1.0
WHOLE = 2.0
IN_PASSING = 0.5
"""What a general word counts, any other, a compound identifier; and the part of that for one that stands only in the body."""
ENOUGH = 2.5
ALL_OF_LITTLE = 0.6
NEAR = 0.3
"""What a fit must reach: in all, or this part of a question that says less; and as a part of either side."""


@dataclass(frozen=True, slots=True)
class Terms:
    """The words of a text with their weights."""

    weights: Mapping[str, float]

    @property
    def total(self) -> float:
        return sum(self.weights.values())


@dataclass(frozen=True, slots=True)
class Subject:
    """What an object is about, and what it mentions besides."""

    head: Terms
    body: frozenset[str]


def terms(text: str, common: Collection[str] = ()) -> Terms:
    """`common`: words that most objects of the project have, and so tell them apart no more than general ones."""
    wholes = {stem(word) for word in compounds(text)}
    words = dict.fromkeys(map(stem, telling(split(text))))
    return Terms({word: weight(word, wholes, common) for word in words})


def weight(word: str, wholes: Collection[str], common: Collection[str]) -> float:
    if word in GENERAL or word in common or word.isdigit():
        return LITTLE
    return WHOLE if word in wholes else PLAIN


def subject(head: str, body: str, common: Collection[str] = ()) -> Subject:
    return Subject(terms(head, common), frozenset(map(stem, telling(split(body)))))


def fit(question: Terms, about: Subject) -> float:
    """How well it fits; 0 when it does not."""
    found = {word: weight for word, weight in question.weights.items() if word in about.head.weights or word in about.body}
    if not any(weight > LITTLE for weight in found.values()):
        return 0.0
    score = sum(weight * (1.0 if word in about.head.weights else IN_PASSING) for word, weight in found.items())
    smaller = min(question.total, about.head.total) or 1.0
    enough = score >= min(ENOUGH, ALL_OF_LITTLE * question.total) and score / smaller >= NEAR
    return score if enough else 0.0


def likeness(one: str, other: str) -> float:
    """Of two texts the part of their words that they share: 1 when they say the same."""
    left, right = set(map(stem, telling(split(one)))), set(map(stem, telling(split(other))))
    return len(left & right) / len(left | right) if left | right else 1.0
