"""Section `callers`: who uses what the work is about, and what that uses itself, one line each."""

from collections.abc import Iterator

from afresh.domain.calls import Call, Way
from afresh.domain.fact import Look
from afresh.domain.text import one_line
from afresh.insight.looks import used
from afresh.insight.looks.scene import WIDEST, Scene
from afresh.insight.looks.targets import WORDS, Target

ABOUT = 4
CALLS = 8
CALLED = 8
"""Targets that are asked for; lines of one target's callers and of what it calls."""


def callers(scene: Scene) -> Iterator[Look]:
    for target in asked(scene):
        name = f"{target.symbol.name} ({target.why})"
        found = [one for one in used.callers(scene.code, target.place) if one.kind is not Way.IMPORT]
        inner = [one for one in found if not scene.code.is_test(one.path)]
        tests = len({(one.path, one.within) for one in found if scene.code.is_test(one.path)})
        if found:
            yield Look("callers", f"callers of {name}", "\n".join([*told(inner), *tested(tests, inner)]))
        if lines := list(
            dict.fromkeys(f"{one.target} {one.target.symbol.signature}" for one in used.callees(scene.code, target.place))
        ):
            yield Look(
                "callers",
                f"called by {name}",
                "\n".join([*[one_line(line, WIDEST) for line in lines[:CALLED]], *more(lines, CALLED)]),
            )


def asked(scene: Scene) -> list[Target]:
    """What nobody has named may be something else: of that only the first."""
    named = [one for one in scene.functions if one.why != WORDS]
    return named[:ABOUT] or scene.functions[:1]


def told(found: list[Call]) -> list[str]:
    lines = [f"{one.path}:{one.line} in {one.within or 'the file'}: {one_line(one.text, WIDEST)}{doubt(one)}" for one in found]
    return [*lines[:CALLS], *more(lines, CALLS)]


def doubt(one: Call) -> str:
    return "" if one.sure else " (by name)"


def more(lines: list[str], most: int) -> list[str]:
    return [f"… {len(lines) - most} more"] if len(lines) > most else []


def tested(tests: int, inner: list[Call]) -> list[str]:
    """That nobody but tests calls it is worth knowing."""
    if not tests:
        return []
    return [f"{'and' if inner else 'only'} {tests} test{'s' if tests > 1 else ''}"]
