"""What the work is about: the definitions that somebody named, that fail, that are changed, or that speak of the same."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from afresh.domain.code import Kind, Place, Symbol
from afresh.domain.fact import Region
from afresh.domain.state import State
from afresh.domain.words import STOP_WORDS
from afresh.insight.code import Code
from afresh.insight.looks import relevance
from afresh.insight.looks.relevance import DEFINITIONS
from afresh.insight.ranking import Ranked

CHAIN = re.compile(r"(?<![\w./-])[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")
AT = re.compile(r"([\w./-]+\.\w+):(\d+)")
PATH = re.compile(r"[\w./-]*\w\.\w+")
FILE = re.compile(r"\.(?:\w{1,3}|toml|yaml|json)$")
SHORTEST, MOST, SAME, AHEAD, WHOLE, FILES, PASSING = 4, 8, 3, 2, 6, 4, 60
"""Letters of a plain word that may be a name; targets in all; definitions that one name may stand for; items of the plan;
definitions of a file that is meant as a whole; files that are looked through for what nobody named; and lines
from which on a definition is not meant when it is named in passing."""
NAMED, PLANNED, THOUGHT, REVIEWED, CHANGED, INSIDE, WORDS = (
    "named in the task", "named in your plan", "named in your last thought", "in the diff", "changed by this task",
    "in a file that the task names", "speaks of the same",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Target:
    place: Place
    why: str

    @property
    def path(self) -> str:
        return self.place.path

    @property
    def symbol(self) -> Symbol:
        return self.place.symbol


def targets(code: Code, state: State, about: Sequence[Region] = (), ranked: Sequence[Ranked] = ()) -> list[Target]:
    """The surest first, each once."""
    found: dict[tuple[str, str], Target] = {}
    guessed = () if state.changed or any(not one.changed for one in about) else alike(code, state, ranked)
    written = [*within(code, [one for one in about if not one.changed], REVIEWED), *changed(code, about)]
    for target in (*spoken(code, state), *traced(code, state), *written, *offered(code, state), *guessed):
        found.setdefault((target.path, target.symbol.name), target)
    return list(found.values())[:MOST]


def order(state: State) -> str:
    """What people have said."""
    return "\n".join((state.task.goal, *state.words))


def wording(state: State) -> str:
    """The same without paths: what they lead to is known, and their parts are no words of the task."""
    return PATH.sub(lambda match: match[0] if "/" not in match[0] and not FILE.search(match[0]) else " ", order(state))


def spoken(code: Code, state: State) -> Iterator[Target]:
    thought = state.recent[-1].thought if state.recent else ""
    ahead = "\n".join([item.text for item in state.plan if not item.done][:AHEAD])
    yield from (Target(place, NAMED) for place in (*cited(code, order(state)), *called(code, order(state))))
    for text, why in ((ahead, PLANNED), (thought, THOUGHT)):
        found = [Target(place, why) for place in (*cited(code, text), *called(code, text))]
        yield from (one for one in found if one.symbol.end - one.symbol.line < PASSING)


def cited(code: Code, text: str) -> Iterator[Place]:
    """Definitions at a `path:line`."""
    for path, line in AT.findall(text):
        if path in code.files and (symbol := enclosing(code, path, int(line))):
            yield Place(path, symbol)


def called(code: Code, text: str) -> Iterator[Place]:
    """Definitions that a text calls by name; by a plain word only if nothing in it is written like a name."""
    found = [(match[0], marked(text, match)) for match in CHAIN.finditer(text)]
    files = named_files(code, text)
    sure = [place for name in dict.fromkeys(name for name, strong in found if strong) for place in meant(code, name, files, True)]
    plain = dict.fromkeys(name for name, strong in found if not strong) if not sure else ()
    yield from sure or [place for name in plain for place in meant(code, name, files, False)]


def marked(text: str, match: re.Match[str]) -> bool:
    """Written like a name: quoted, called, joined, or with a capital that no sentence asks for."""
    name, before, after = match[0], text[: match.start()], text[match.end() : match.end() + 1]
    if after == "(" or (before[-1:] in ("`", "'", '"') and after == before[-1:]) or re.search(r"[_.\d]|[a-z][A-Z]", name):
        return True
    return name[0].isupper() and bool(re.search(r"[\w,;)`'\"]\s+$", before))


def meant(code: Code, name: str, files: set[str], sure: bool) -> list[Place]:
    """What a name stands for, unless it could be many things."""
    if not sure and (len(name) < SHORTEST or name.lower() in STOP_WORDS):
        return []
    holder, _, short = name.rpartition(".")
    found = code.defining(name) or [place for place in code.defining(short) if holder and holder.split(".")[-1] in module(place)]
    kept = [place for place in found if place.symbol.kind in DEFINITIONS or sure]
    kept = [place for place in kept if place.path in files] or [place for place in kept if not code.is_test(place.path)] or kept
    if not sure:
        kept = [place for place in kept if place.symbol.kind is not Kind.METHOD] if len(kept) == 1 else []
    return kept if len(kept) <= SAME else []


def module(place: Place) -> list[str]:
    return re.split(r"[/.]", place.path)


def named_files(code: Code, text: str) -> set[str]:
    """Files of code that a text names, by path or by a name that only one has."""
    found: set[str] = set()
    for word in PATH.findall(text):
        ends = [path for path in code.files if path == word or path.endswith("/" + word)]
        found.update(ends if len(ends) == 1 or word in ends else ())
    return found


def traced(code: Code, state: State) -> Iterator[Target]:
    """What a failing test went through, the innermost first."""
    runs = state.verdict.runs if state.verdict else state.baseline.runs if state.baseline else ()
    for failure in [failure for run in runs for failure in run.failures]:
        for path, line in reversed(AT.findall(failure.detail)):
            symbol = enclosing(code, path, int(line)) if path in code.files and not code.is_test(path) else None
            if symbol:
                yield Target(Place(path, symbol), f"in the traceback of {failure.test.rpartition('::')[2]}")


def changed(code: Code, about: Sequence[Region]) -> Iterator[Target]:
    """Tests of the task's own are no target."""
    return within(code, [one for one in about if one.changed], CHANGED)


def within(code: Code, regions: Sequence[Region], why: str) -> Iterator[Target]:
    for region in regions:
        if region.path in code.files and not code.is_test(region.path):
            symbols = [one for one in code.reading(region.path).symbols if region.meets(one.line, one.end)]
            yield from (Target(Place(region.path, one), why) for one in innermost(symbols))


def offered(code: Code, state: State) -> Iterator[Target]:
    """What files that the task names have to offer, if that is little enough to be meant as a whole; of each file in turn."""
    turns: list[list[Target]] = []
    for path in sorted(named_files(code, order(state))) if not state.changed else ():
        held = [one for one in code.reading(path).symbols if one.kind in DEFINITIONS and "." not in one.name and one.public]
        if len(held) <= WHOLE and not code.is_test(path):
            turns.append([Target(Place(path, one), INSIDE) for one in held])
    return (one for turn in zip_longest(*turns) for one in turn if one)


def innermost(symbols: list[Symbol]) -> list[Symbol]:
    """Without those that hold another of them."""
    chosen = [one for one in symbols if one.kind in DEFINITIONS]
    return [one for one in chosen if not any(other.name.startswith(one.name + ".") for other in chosen)]


def alike(code: Code, state: State, ranked: Sequence[Ranked], most: int = 3) -> list[Target]:
    """Those that say the words of the task, in the files that do, whether anybody names them or not."""
    words, named = relevance.weights(code, wording(state)), named_files(code, order(state))
    best = sorted(named) or [one.path for one in ranked if not code.is_test(one.path)][:FILES]
    found = [
        (score, Place(path, one)) for path in best for one, score in relevance.symbols(code, path, words).items()
        if relevance.named_by(one.name, words)
    ]  # fmt: skip
    found.sort(key=lambda pair: (-pair[0], pair[1].path, pair[1].symbol.line))
    top = found[0][0] if found else 0.0
    return [Target(place, WORDS) for score, place in found[:most] if score > top / 2]


def enclosing(code: Code, path: str, line: int) -> Symbol | None:
    around = [one for one in code.reading(path).symbols if one.kind in DEFINITIONS and one.line <= line <= one.end]
    return max(around, key=lambda one: one.line, default=None)
