"""Section `tests`: the tests that cover what the work is about, by what they expect of it."""

import re
from collections.abc import Iterator, Sequence

from afresh.domain.code import Symbol
from afresh.domain.fact import Item
from afresh.domain.text import to_one_line
from afresh.insight.looks import relevance, used
from afresh.insight.looks.scene import MAX_LINE_CHARACTERS, WorkFocus
from afresh.insight.looks.targets import TargetDefinition, remove_paths_from_texts

EXPECTATION_LINE = re.compile(
    r"\s*(?:assert\b|with\s+(?:pytest\.)?raises|pytest\.raises|self\.assert|expect\(|t\.(?:Error|Fatal)|assert_?\w*[!(]|Assert\.|assertThat)"
)
MAX_SHOWN_TESTS = 12
EMPTY_ASSERTIONS = ("assert True", "assert False")
MAX_TESTED_TARGETS = 6
MAX_TESTS_PER_TARGET = 5
MAX_ASSERTIONS_PER_TEST = 2
MAX_ASSERTION_LINES = 6
"""Targets that are asked for; tests of each, statements of one that say what is expected, and lines of such a statement."""


def gather_tests(scene: WorkFocus) -> Iterator[Item]:
    shown: set[str] = set()
    for target in scene.targets[:MAX_TESTED_TARGETS]:
        for path, test in find_tests_of_target(scene, target):
            name = f"{path}:{test.line} {test.name}"
            if name not in shown and not scene.seen(path, test.line, test.end) and len(shown) < MAX_SHOWN_TESTS:
                shown.add(name)
                yield Item(
                    "tests",
                    f"{name} of {target.symbol.name}",
                    "\n".join([render_test_name(name, test), *render_expectations(scene, path, test)]),
                )


def find_tests_of_target(scene: WorkFocus, target: TargetDefinition) -> list[tuple[str, Symbol]]:
    """Test functions that use it, those first that speak of the task."""
    code = scene.code
    uses = [one for one in used.find_callers_cached(code, target.place) if code.is_test(one.path) and one.within]
    held = {(path, one.name): one for path in {one.path for one in uses} for one in code.reading(path).symbols}
    found = dict.fromkeys((one.path, find_outermost_test(one.within)) for one in uses)
    tests = [
        (path, held[path, name]) for path, name in found if (path, name) in held and held[path, name].short.startswith("test")
    ]
    words = relevance.weigh_words(code, remove_paths_from_texts(scene.state))
    scores = {path: relevance.score_symbols_by_words(code, path, words) for path in {path for path, _ in tests}}
    tests.sort(key=lambda pair: (-scores[pair[0]].get(pair[1], 0.0), pair[0], pair[1].line))
    return tests[:MAX_TESTS_PER_TARGET]


def find_outermost_test(within: str) -> str:
    """The test, where what uses it is a function inside one."""
    parts = within.split(".")
    first = next((number for number, part in enumerate(parts) if part.startswith("test")), len(parts) - 1)
    return ".".join(parts[: first + 1])


def render_test_name(name: str, test: Symbol) -> str:
    """Its name, and the fixtures that it asks for."""
    fixtures = list_requested_fixtures(test)
    return f"{name}({', '.join(fixtures)})" if fixtures else name


def list_requested_fixtures(test: Symbol) -> list[str]:
    inside = re.search(r"\((.*)\)", test.signature)
    asked = [part.split(":")[0].split("=")[0].strip() for part in inside[1].split(",")] if inside else []
    return [part for part in asked if part.isidentifier() and part not in ("self", "cls")]


def render_expectations(scene: WorkFocus, path: str, test: Symbol) -> list[str]:
    lines = scene.code.text(path).splitlines()[test.line - 1 : test.end]
    found = [
        to_one_line(join_statement_lines(lines[place:]), MAX_LINE_CHARACTERS)
        for place, line in enumerate(lines)
        if EXPECTATION_LINE.match(line) and line.strip() not in EMPTY_ASSERTIONS
    ]
    more = [f"  … {len(found) - MAX_ASSERTIONS_PER_TEST} more"] if len(found) > MAX_ASSERTIONS_PER_TEST else []
    return [*[f"  {line}" for line in found[:MAX_ASSERTIONS_PER_TEST]], *more]


def join_statement_lines(lines: Sequence[str]) -> str:
    """Up to the line that closes what the first has opened; of one that is too long to be told, its beginning."""
    taken = list[str]()
    for line in lines[:MAX_ASSERTION_LINES]:
        taken.append(line.strip())
        text = "".join(taken)
        if sum(map(text.count, "([{")) <= sum(map(text.count, ")]}")):
            break
    return " ".join(taken)
