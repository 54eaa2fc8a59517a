"""Section `tests`: the tests that cover what the work is about, by what they expect of it."""

import re
from collections.abc import Iterator

from afresh.domain.code import Kind, Symbol
from afresh.domain.fact import Look
from afresh.domain.text import one_line
from afresh.insight.looks import relevance
from afresh.insight.looks.scene import WIDEST, Scene
from afresh.insight.looks.targets import Target, wording

EXPECTED = re.compile(
    r"\s*(?:assert\b|with\s+(?:pytest\.)?raises|pytest\.raises|self\.assert|expect\(|t\.(?:Error|Fatal)|assert_?\w*[!(]|Assert\.|assertThat)"
)
EMPTY = ("assert True", "assert False")
ABOUT, FILES, TESTS, ASSERTS = 4, 4, 5, 2
"""Targets that are asked for; test files of each; tests of each, and lines of one test that say what is expected."""


def expectations(scene: Scene) -> Iterator[Look]:
    shown: set[str] = set()
    for target in scene.targets[:ABOUT]:
        for path, test in covering(scene, target):
            name = f"{path}:{test.line} {test.name}"
            if name not in shown and not scene.seen(path, test.line, test.end) and len(shown) < ABOUT * TESTS:
                shown.add(name)
                yield Look("tests", f"{name} of {target.symbol.name}", "\n".join([given(name, test), *expected(scene, path, test)]))


def covering(scene: Scene, target: Target) -> list[tuple[str, Symbol]]:
    """Test functions that say its name, or the class's of a special method, those first that speak of the task."""
    code, symbol = scene.code, target.symbol
    short = symbol.short if not symbol.short.startswith("__") else symbol.name.rpartition(".")[0].rpartition(".")[2]
    found: list[tuple[str, Symbol]] = []
    saying = [path for path in code.mentioning(short) if code.is_test(path)]
    covers = set(code.tests_of(target.path)) if saying else set[str]()
    for path in sorted(saying, key=lambda path: (path not in covers, path))[:FILES]:
        lines = code.text(path).splitlines()
        word = re.compile(rf"(?<!\w){re.escape(short)}(?!\w)")
        held = [one for one in code.reading(path).symbols if one.kind in (Kind.FUNCTION, Kind.METHOD) and one.short.startswith("test")]
        found += [(path, one) for one in held if any(word.search(line) for line in lines[one.line - 1 : one.end])]
    words = relevance.weights(code, wording(scene.state))
    scores = {path: relevance.symbols(code, path, words) for path in {path for path, _ in found}}
    found.sort(key=lambda pair: (-scores[pair[0]].get(pair[1], 0.0), pair[0], pair[1].line))
    return found[:TESTS]


def given(name: str, test: Symbol) -> str:
    """Its name, and the fixtures that it asks for."""
    inside = re.search(r"\((.*)\)", test.signature)
    asked = [part.split(":")[0].split("=")[0].strip() for part in inside[1].split(",")] if inside else []
    fixtures = [part for part in asked if part and part not in ("self", "cls")]
    return f"{name}({', '.join(fixtures)})" if fixtures else name


def expected(scene: Scene, path: str, test: Symbol) -> list[str]:
    lines = scene.code.text(path).splitlines()[test.line - 1 : test.end]
    found = [one_line(line.strip(), WIDEST) for line in lines if EXPECTED.match(line) and line.strip() not in EMPTY]
    more = [f"  … {len(found) - ASSERTS} more"] if len(found) > ASSERTS else []
    return [*[f"  {line}" for line in found[:ASSERTS]], *more]
