"""What the work is about: the definitions that somebody named, that fail, that are changed, or that speak of the same."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from afresh.domain.code import Place, Symbol
from afresh.domain.fact import Region
from afresh.domain.state import State
from afresh.insight.code import Code
from afresh.insight.looks import relevance
from afresh.insight.looks.naming import AT, PATH, called, hand, named_files, taken
from afresh.insight.looks.relevance import DEFINITIONS
from afresh.insight.ranking import Ranked
from afresh.insight.ranking.meant import sure

FILE = re.compile(r"\.(?:\w{1,3}|toml|yaml|json)$")
MOST = 8
AHEAD = 2
WHOLE = 6
FILES = 4
LIKELY = 5
PASSING = 60
"""Targets in all; items of the plan; definitions of a file that is meant as a whole; files that are looked through for what
nobody named; files that the ranking puts first, in which a quoted word is looked for before others; and lines from which on a
definition is not meant when it is named in passing."""
NAMED = "named in the task"
PLANNED = "named in your plan"
THOUGHT = "named in your last thought"
REVIEWED = "in the diff"
CHANGED = "changed by this task"
INSIDE = "in a file that the task names"
MEANT = "in a file that the task is about"
OPTION = "what an option in the task is called after"
WORDS = "speaks of the same"
# fmt: skip


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
    options = [Target(place, OPTION) for place in taken(code, order(state))]
    for target in (*spoken(code, state, ranked), *traced(code, state), *written, *offered(code, state), *options, *guessed):
        found.setdefault((target.path, target.symbol.name), target)
    return list(found.values())[:MOST]


def order(state: State) -> str:
    """What people have said."""
    return "\n".join((state.task.goal, *state.words))


def wording(state: State) -> str:
    """The same without paths: what they lead to is known, and their parts are no words of the task."""
    return PATH.sub(lambda match: match[0] if "/" not in match[0] and not FILE.search(match[0]) else " ", order(state))


def spoken(code: Code, state: State, ranked: Sequence[Ranked]) -> Iterator[Target]:
    """Names of the order are looked for in what it is about; those of plan and thought in what the work has touched."""
    thought = state.recent[-1].thought if state.recent else ""
    ahead = "\n".join([item.text for item in state.plan if not item.done][:AHEAD])
    about, said = about_files(code, state), order(state)
    likely = [one.path for one in ranked if not code.is_test(one.path)][:LIKELY]
    at = hand(code, [*state.changed, *about] or likely)
    yield from (Target(place, NAMED) for place in (*cited(code, said), *called(code, said, at)))
    touched = hand(code, [*state.changed, *about, *[region.path for region in state.regions]], strict=True)
    for text, why in ((ahead, PLANNED), (thought, THOUGHT)):
        found = [Target(place, why) for place in (*cited(code, text), *called(code, text, touched))]
        yield from (one for one in found if one.symbol.end - one.symbol.line < PASSING)


def about_files(code: Code, state: State) -> list[str]:
    """Files that the order names, else those that it means as surely."""
    return sorted(named_files(code, order(state))) or sure(code, order(state))


def cited(code: Code, text: str) -> Iterator[Place]:
    """Definitions at a `path:line`."""
    for path, line in AT.findall(text):
        if path in code.files and (symbol := enclosing(code, path, int(line))):
            yield Place(path, symbol)


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
    turns, named = list[list[Target]](), named_files(code, order(state))
    for path in about_files(code, state) if not state.changed else ():
        held = [one for one in code.reading(path).symbols if one.kind in DEFINITIONS and "." not in one.name and one.public]
        if len(held) <= WHOLE and not code.is_test(path):
            turns.append([Target(Place(path, one), INSIDE if path in named else MEANT) for one in held])
    return (one for turn in zip_longest(*turns) for one in turn if one)


def innermost(symbols: list[Symbol]) -> list[Symbol]:
    """Without those that hold another of them."""
    chosen = [one for one in symbols if one.kind in DEFINITIONS]
    return [one for one in chosen if not any(other.name.startswith(one.name + ".") for other in chosen)]


def alike(code: Code, state: State, ranked: Sequence[Ranked], most: int = 3) -> list[Target]:
    """Those that say the words of the task, in the files that do, whether anybody names them or not."""
    words = relevance.weights(code, wording(state))
    likely = {one.path: one.score for one in [one for one in ranked if not code.is_test(one.path)][:FILES]}
    best = dict.fromkeys(about_files(code, state), 1.0) or likely
    found = [
        (score * best[path], Place(path, one)) for path in best for one, score in relevance.symbols(code, path, words).items()
        if relevance.named_by(one.name, words)
    ]  # fmt: skip
    found.sort(key=lambda pair: (-pair[0], pair[1].path, pair[1].symbol.line))
    top = found[0][0] if found else 0.0
    return [Target(place, WORDS) for score, place in found[:most] if score > top / 2]


def enclosing(code: Code, path: str, line: int) -> Symbol | None:
    around = [one for one in code.reading(path).symbols if one.kind in DEFINITIONS and one.line <= line <= one.end]
    return max(around, key=lambda one: one.line, default=None)
