"""Whether something that was learnt fits a task. A text that has little to do with it costs room in a window and the reader's
trust, so what is not clearly near is not shown at all."""

from collections.abc import Collection, Mapping

from afresh.core.fast_dataclass import dataclass
from afresh.core.search_words import drop_stop_words, find_compounds, split_words, stem_word

GENERAL_WORDS = frozenset(
    stem_word(word)
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
"""Words in tasks of every kind: they count little, and never alone."""
GENERAL_WORD_WEIGHT = 0.2
PLAIN_WORD_WEIGHT = 1.0
COMPOUND_WORD_WEIGHT = 2.0
BODY_WORD_FACTOR = 0.5
"""What a general word counts, any other, a compound identifier; and the part of that for one that stands only in the body."""
MIN_MATCH_SCORE = 2.5
MIN_SHARE_OF_SHORT_QUESTION = 0.6
MIN_SHARE_OF_EITHER_SIDE = 0.3
"""What a fit must reach: in all, or this part of a question that says less; and as a part of either side."""


@dataclass(frozen=True, slots=True)
class WeightedTerms:
    """The words of a text with their weights."""

    weights: Mapping[str, float]

    @property
    def total(self) -> float:
        return sum(self.weights.values())


@dataclass(frozen=True, slots=True)
class LessonSubject:
    """The subject of a lesson, and what else it mentions."""

    head: WeightedTerms
    body: frozenset[str]


def weigh_terms(text: str, common: Collection[str] = ()) -> WeightedTerms:
    """`common`: words that most objects of the project have, and so tell them apart no more than general ones."""
    wholes = {stem_word(word) for word in find_compounds(text)}
    words = dict.fromkeys(map(stem_word, drop_stop_words(split_words(text))))
    return WeightedTerms({word: weigh_word(word, wholes, common) for word in words})


def weigh_word(word: str, wholes: Collection[str], common: Collection[str]) -> float:
    if word in GENERAL_WORDS or word in common or word.isdigit():
        return GENERAL_WORD_WEIGHT
    return COMPOUND_WORD_WEIGHT if word in wholes else PLAIN_WORD_WEIGHT


def subject_from_text(head: str, body: str, common: Collection[str] = ()) -> LessonSubject:
    return LessonSubject(weigh_terms(head, common), frozenset(map(stem_word, drop_stop_words(split_words(body)))))


def score_match(question: WeightedTerms, about: LessonSubject) -> float:
    """How well it fits; 0 when it does not."""
    weights = {word: weight for word, weight in question.weights.items() if word in about.head.weights or word in about.body}
    if not any(weight > GENERAL_WORD_WEIGHT for weight in weights.values()):
        return 0.0
    score = sum(weight * (1.0 if word in about.head.weights else BODY_WORD_FACTOR) for word, weight in weights.items())
    smaller = min(question.total, about.head.total) or 1.0
    enough = (
        score >= min(MIN_MATCH_SCORE, MIN_SHARE_OF_SHORT_QUESTION * question.total)
        and score / smaller >= MIN_SHARE_OF_EITHER_SIDE
    )
    return score if enough else 0.0


def compute_likeness(one: str, other: str) -> float:
    """Of two texts the part of their words that they share: 1 when they say the same."""
    left, right = set(map(stem_word, drop_stop_words(split_words(one)))), set(map(stem_word, drop_stop_words(split_words(other))))
    return len(left & right) / len(left | right) if left | right else 1.0
