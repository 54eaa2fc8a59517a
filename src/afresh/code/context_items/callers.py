"""Section `callers`: who uses what the work is about, and what that uses itself, one line each."""

from collections.abc import Iterator

from afresh.code.context_items.find_targets import SHARES_WORDS, TargetDefinition
from afresh.code.context_items.work_focus import MAX_LINE_CHARACTERS, WorkFocus
from afresh.code.graph import calls
from afresh.code.search_hit import SymbolUse, UseKind
from afresh.core.context_item import Note
from afresh.core.truncate import to_one_line

MAX_TARGETS = 4
MAX_CALLER_LINES = 8
MAX_CALLEE_LINES = 8
"""Targets that are asked for; lines of one target's callers and of what it calls."""


def gather_callers(scene: WorkFocus) -> Iterator[Note]:
    for target in select_caller_targets(scene):
        name = f"{target.symbol.name} ({target.why})"
        found = [one for one in calls.find_callers_cached(scene.code, target.place) if one.kind is not UseKind.IMPORT]
        inner = [one for one in found if not scene.code.is_test(one.path)]
        tests = len({(one.path, one.within) for one in found if scene.code.is_test(one.path)})
        if found:
            yield Note("callers", f"callers of {name}", "\n".join([*render_callers(inner), *render_test_count(tests, inner)]))
        if lines := list(
            dict.fromkeys(
                f"{one.target} {one.target.symbol.signature}" for one in calls.find_callees_cached(scene.code, target.place)
            )
        ):
            yield Note(
                "callers",
                f"called by {name}",
                "\n".join(
                    [
                        *[to_one_line(line, MAX_LINE_CHARACTERS) for line in lines[:MAX_CALLEE_LINES]],
                        *render_more(lines, MAX_CALLEE_LINES),
                    ]
                ),
            )


def select_caller_targets(scene: WorkFocus) -> list[TargetDefinition]:
    """What nobody has named may be something else: of that only the first."""
    named = [one for one in scene.functions if one.why != SHARES_WORDS]
    return named[:MAX_TARGETS] or scene.functions[:1]


def render_callers(found: list[SymbolUse]) -> list[str]:
    lines = [
        f"{one.path}:{one.line} in {one.within or 'the file'}: {to_one_line(one.text, MAX_LINE_CHARACTERS)}{render_doubt(one)}"
        for one in found
    ]
    return [*lines[:MAX_CALLER_LINES], *render_more(lines, MAX_CALLER_LINES)]


def render_doubt(one: SymbolUse) -> str:
    return "" if one.sure else " (by name)"


def render_more(lines: list[str], most: int) -> list[str]:
    return [f"… {len(lines) - most} more"] if len(lines) > most else []


def render_test_count(tests: int, inner: list[SymbolUse]) -> list[str]:
    """That nobody but tests calls it is worth knowing."""
    if not tests:
        return []
    return [f"{'and' if inner else 'only'} {tests} test{'s' if tests > 1 else ''}"]
