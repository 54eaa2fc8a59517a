"""Why a file is where it is, in few words for each thing that speaks for it."""

from collections.abc import Callable
from pathlib import PurePosixPath

from afresh.domain.text import one_line
from afresh.domain.words import split, stem, telling
from afresh.insight.code import Code
from afresh.insight.ranking import past, signals
from afresh.insight.ranking.meant import SURE
from afresh.insight.ranking.question import Question
from afresh.insight.ranking.weigh import SPREAD, WEIGHTS, Weighed

MOST = 3
LEAST = 0.08
"""Share of the weightiest reason below which one is not worth its words."""
MOST_WORDS = 3
MOST_NAMES = 2
TITLE = 40


def reasons(code: Code, question: Question, weighed: Weighed, path: str) -> tuple[str, ...]:
    """The weightiest first; none twice in other words."""
    weights = {**WEIGHTS, **SPREAD}
    parts = {**weighed.signals, **weighed.spread}
    worth = {name: weights[name] * scores[path] for name, scores in parts.items() if path in scores}
    top = max(worth.values(), default=0.0)
    told: list[str] = []
    for name in sorted(worth, key=lambda name: (-worth[name], name)):
        if worth[name] > LEAST * top and (said := _SAYING[name](code, question, weighed, path)) and said not in told:
            told.append(one_line(said))
        if len(told) == MOST:
            break
    return tuple(told)


def _named(code: Code, question: Question, weighed: Weighed, path: str) -> str:
    return "named in the task"


def _meant(code: Code, question: Question, weighed: Weighed, path: str) -> str:
    return "what the task speaks of" if weighed.signals["meant"][path] >= SURE else "called as the task says"


def _touched(code: Code, question: Question, weighed: Weighed, path: str) -> str:
    return "in work"


def _defines(code: Code, question: Question, weighed: Weighed, path: str) -> str:
    symbols = {symbol.short for symbol in code.reading(path).symbols}
    names = sorted(weighed.asked.names, key=lambda name: (-weighed.asked.names[name], name))
    held = list(dict.fromkeys(short for name in names if (short := name.rpartition(".")[2]) in symbols))
    return f"defines {_quoted(held)}" if held else ""


def _uses(code: Code, question: Question, weighed: Weighed, path: str) -> str:
    mentions = code.reading(path).mentions
    defined = {symbol.short for symbol in code.reading(path).symbols}
    names = {name.rpartition(".")[2] for name in weighed.asked.names}
    held = sorted((name for name in names if name in mentions and name not in defined), key=_rarest(code))
    return f"uses {_quoted(held)}" if held else ""


def _rarest(code: Code) -> Callable[[str], tuple[int, str]]:
    return lambda name: (len(code.mentioning(name)), name)


def _words(code: Code, question: Question, weighed: Weighed, path: str) -> str:
    """But for those that are told as part of the path or as names."""
    worth: list[tuple[float, str]] = []
    for word, weight in weighed.asked.words.items():
        having = weighed.saying[word]
        if path in having:
            worth.append((-weight * signals.rarity(len(having), len(code.files)), word))
    told = {stem(word) for text in (path, *weighed.asked.names) for word in telling(split(text))}
    held = [word for _, word in sorted(worth) if stem(word) not in told]
    return f"says: {', '.join(_distinct(held))}" if held else ""


def _distinct(words: list[str]) -> list[str]:
    """Without the parts of a whole that is said as well."""
    kept: list[str] = []
    for word in words:
        if not any(word in other or other in word for other in kept):
            kept.append(word)
    return kept[:MOST_WORDS]


def _paths(code: Code, question: Question, weighed: Weighed, path: str) -> str:
    said = {stem(word) for word in telling(split(path))}
    held = _distinct([word for word in weighed.asked.words if stem(word) in said])
    return f"path has: {', '.join(held)}" if held else ""


def _before(code: Code, question: Question, weighed: Weighed, path: str) -> str:
    history = past.told(question.history)
    for number, _ in weighed.likest:
        if path in history.paths[number]:
            title = " ".join(history.messages[number].split())
            return f"changed for “{title if len(title) <= TITLE else title[: TITLE - 1].rstrip() + '…'}”"
    return ""


def _lately(code: Code, question: Question, weighed: Weighed, path: str) -> str:
    count = len(past.told(question.history).touching.get(path, ()))
    return f"changed in {count} commits" if count > 1 else ""


def _together(code: Code, question: Question, weighed: Weighed, path: str) -> str:
    return f"changed with {_name(weighed.sources['together'][path])} before"


def _paired(code: Code, question: Question, weighed: Weighed, path: str) -> str:
    other = _name(weighed.sources["paired"][path])
    return f"tests {other}" if code.is_test(path) else f"tested by {other}"


def _imports(code: Code, question: Question, weighed: Weighed, path: str) -> str:
    seeds = set(weighed.best()[:10]) - {path}
    users = sorted(set(code.importers(path)) & seeds)
    used = sorted(set(code.imports(path)) & seeds)
    if len(users) > 1:
        return f"imported by {len(users)} that match"
    if users or used:
        return f"imported by {_name(users[0])}" if users else f"imports {_name(used[0])}"
    return ""


def _central(code: Code, question: Question, weighed: Weighed, path: str) -> str:
    count = len(code.importers(path))
    return f"imported by {count} files" if count > 1 else ""


def _quoted(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names[:MOST_NAMES])


def _name(path: str) -> str:
    """A file's name; with its folder when the name alone says nothing."""
    pure = PurePosixPath(path)
    return f"{pure.parent.name}/{pure.name}" if pure.stem in ("__init__", "index", "mod", "tests") else pure.name


Saying = Callable[[Code, Question, Weighed, str], str]
_SAYING: dict[str, Saying] = {
    "named": _named, "meant": _meant, "touched": _touched, "defines": _defines, "uses": _uses, "words": _words, "paths": _paths,
    "before": _before, "lately": _lately, "together": _together, "paired": _paired, "imports": _imports,
    "central": _central,
}  # fmt: skip
