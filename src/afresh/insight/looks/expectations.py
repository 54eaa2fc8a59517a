"""Section `tests`: the tests that cover what the work is about, by what they expect of it."""

import re
from collections.abc import Iterator, Sequence

from afresh.domain.code import Symbol
from afresh.domain.fact import Look
from afresh.domain.text import one_line
from afresh.insight.looks import relevance, used
from afresh.insight.looks.scene import WIDEST, Scene
from afresh.insight.looks.targets import Target, wording

EXPECTED = re.compile(
    r"\s*(?:assert\b|with\s+(?:pytest\.)?raises|pytest\.raises|self\.assert|expect\(|t\.(?:Error|Fatal)|assert_?\w*[!(]|Assert\.|assertThat)"
)
MOST = 12
EMPTY = ("assert True", "assert False")
ABOUT = 6
TESTS = 5
ASSERTS = 2
LONGEST = 6
"""Targets that are asked for; tests of each, statements of one that say what is expected, and lines of such a statement."""


def expectations(scene: Scene) -> Iterator[Look]:
    shown: set[str] = set()
    for target in scene.targets[:ABOUT]:
        for path, test in covering(scene, target):
            name = f"{path}:{test.line} {test.name}"
            if name not in shown and not scene.seen(path, test.line, test.end) and len(shown) < MOST:
                shown.add(name)
                yield Look(
                    "tests", f"{name} of {target.symbol.name}", "\n".join([given(name, test), *expected(scene, path, test)])
                )


def covering(scene: Scene, target: Target) -> list[tuple[str, Symbol]]:
    """Test functions that use it, those first that speak of the task."""
    code = scene.code
    uses = [one for one in used.callers(code, target.place) if code.is_test(one.path) and one.within]
    held = {(path, one.name): one for path in {one.path for one in uses} for one in code.reading(path).symbols}
    found = dict.fromkeys((one.path, outermost(one.within)) for one in uses)
    tests = [
        (path, held[path, name]) for path, name in found if (path, name) in held and held[path, name].short.startswith("test")
    ]
    words = relevance.weights(code, wording(scene.state))
    scores = {path: relevance.symbols(code, path, words) for path in {path for path, _ in tests}}
    tests.sort(key=lambda pair: (-scores[pair[0]].get(pair[1], 0.0), pair[0], pair[1].line))
    return tests[:TESTS]


def outermost(within: str) -> str:
    """The test, where what uses it is a function inside one."""
    parts = within.split(".")
    first = next((number for number, part in enumerate(parts) if part.startswith("test")), len(parts) - 1)
    return ".".join(parts[: first + 1])


def given(name: str, test: Symbol) -> str:
    """Its name, and the fixtures that it asks for."""
    fixtures = asked_for(test)
    return f"{name}({', '.join(fixtures)})" if fixtures else name


def asked_for(test: Symbol) -> list[str]:
    inside = re.search(r"\((.*)\)", test.signature)
    asked = [part.split(":")[0].split("=")[0].strip() for part in inside[1].split(",")] if inside else []
    return [part for part in asked if part.isidentifier() and part not in ("self", "cls")]


def expected(scene: Scene, path: str, test: Symbol) -> list[str]:
    lines = scene.code.text(path).splitlines()[test.line - 1 : test.end]
    found = [
        one_line(statement(lines[place:]), WIDEST)
        for place, line in enumerate(lines)
        if EXPECTED.match(line) and line.strip() not in EMPTY
    ]
    more = [f"  … {len(found) - ASSERTS} more"] if len(found) > ASSERTS else []
    return [*[f"  {line}" for line in found[:ASSERTS]], *more]


def statement(lines: Sequence[str]) -> str:
    """Up to the line that closes what the first has opened; of one that is too long to be told, its beginning."""
    taken = list[str]()
    for line in lines[:LONGEST]:
        taken.append(line.strip())
        text = "".join(taken)
        if sum(map(text.count, "([{")) <= sum(map(text.count, ")]}")):
            break
    return " ".join(taken)
