"""Were tests in JavaScript, TypeScript, Rust, Go or Java weakened? By syntax."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from afresh.core.change import Change
from afresh.core.recognise_test_files import is_test_code
from afresh.verification.test_syntax import TestUnit, holds_unit, is_inline_test, parse_test_units

_FOCUSING = re.compile(
    r"\b(?:describe|it|test|suite|context|specify)(?:\.\w+)*\.only\b|\bf(?:it|describe)\s*\(|\bprocess\.exit\b|\bos\.Exit\b|\bprocess::exit\b"
)
"""Runs nothing else, or ends the run."""
_SKIPPING_LINE = re.compile(
    r"\.(?:skip|only|todo)\b|\b[xf](?:it|describe|test)\(|\bt\.Skip|#\[ignore|@(?:Disabled|Ignore)\b|\bskip\(|\bpending\(|^\s*return\s*;?\s*$"
    r"|^\s*/\*(?!\*)"
)
_IMPORT_LINE = re.compile(
    r"^\s*(?:import\b|use\b|package\b|from\b|(?:const|let|var)\b[^=]*=\s*(?:await\s+)?(?:require|import)\(|[}\]]\s*from\b|$)"
)
_INLINE_TEST_SUFFIXES = (".rs",)
"""Languages in which tests stand in the files that they test."""


@dataclass(frozen=True, slots=True)
class WeakenedTest:
    """One test or helper of the base, by its names from the outside in, and what was done to it."""

    name: str
    told: str


def may_hold_inline_tests(path: str) -> bool:
    return path.endswith(_INLINE_TEST_SUFFIXES)


def find_weakened_tests_elsewhere(change: Change, base: str | None, now: str | None) -> tuple[str, ...]:
    """In which ways a changed file that is no Python weakens the tests in it: by syntax, else by lines."""
    found = find_weakened_tests_by_grammar(change.path, base or "", now or "")
    return find_weakenings_by_lines(change) if found is None else tuple(one.told for one in found)


def find_weakened_tests_by_grammar(path: str, base: str, now: str) -> tuple[WeakenedTest, ...] | None:
    """What of the base's tests is gone, altered or switched off; None where there is no grammar or either text has errors."""
    before, after = parse_test_units(path, base), parse_test_units(path, now)
    if before is None or after is None:
        return None
    return tuple(_compare_units(path, _select_tests(path, before), after, is_test_code(path)))


def _select_tests(path: str, units: Sequence[TestUnit]) -> list[TestUnit]:
    """In a file of tests everything is for them; in others only what is marked as a test, or as compiled for tests."""
    return [unit for unit in units if is_test_code(path) or is_inline_test(unit)]


def _compare_units(
    path: str, before: Sequence[TestUnit], after: Sequence[TestUnit], owned: bool, within: str = ""
) -> Iterator[WeakenedTest]:
    """Unit by unit, in suites and modules member by member. What was added is free unless it hides the rest."""
    left = list(after)
    for unit in before:
        alike = _find_alike(unit, left)
        name = f"{within}{unit.name}"
        match = next((one for one in alike if holds_unit(unit, one)), None)
        if match is not None:
            left.remove(match)
        elif not alike:
            yield WeakenedTest(name, f"{path}: {name} was removed")
        elif unit.members and alike[0].members and unit.head == alike[0].head:
            left.remove(alike[0])
            yield from _compare_units(path, unit.members, alike[0].members, True, f"{name} › ")
        else:
            left.remove(alike[0])
            yield WeakenedTest(name, f"{path}: {name} was altered")
    if owned:
        yield from _find_hiding_units(path, before, left, within)


def _find_alike(unit: TestUnit, units: Sequence[TestUnit]) -> list[TestUnit]:
    """Those of its key; a statement without a name may have got longer."""
    return [
        one for one in units if one.key == unit.key or (not unit.is_named and one.key[0] == unit.key[0] and holds_unit(unit, one))
    ]


def _find_hiding_units(path: str, before: Sequence[TestUnit], fresh: Sequence[TestUnit], within: str) -> Iterator[WeakenedTest]:
    bound = Counter(unit.key for unit in before if unit.binds)
    for unit in fresh:
        name = f"{within}{unit.name}"
        if match := _FOCUSING.search(unit.text):
            yield WeakenedTest(name, f"{path}: `{match[0].strip()}` was added")
        elif unit.binds and bound[unit.key]:
            yield WeakenedTest(name, f"{path}: {name} was reassigned")


def put_back_tests_by_grammar(path: str, base: str, now: str) -> str | None:
    """The file with the base's tests in it again and all else as it is; None where that can't be done."""
    before, after = parse_test_units(path, base), parse_test_units(path, now)
    if before is None or after is None:
        return None
    text = _splice_units(now.encode(), _select_tests(path, before), after, is_test_code(path)).decode()
    return text if find_weakened_tests_by_grammar(path, base, text) == () else None


def _splice_units(now: bytes, before: Sequence[TestUnit], after: Sequence[TestUnit], owned: bool) -> bytes:
    splices = sorted(_list_splices(before, after, owned, len(now)), key=lambda one: one[:2], reverse=True)
    for start, end, text in splices:
        now = now[:start] + text + now[end:]
    return now


def _list_splices(
    before: Sequence[TestUnit], after: Sequence[TestUnit], owned: bool, end: int
) -> Iterator[tuple[int, int, bytes]]:
    """What to put in place of what, by bytes; what is gone comes back at the end of what it was in."""
    left = list(after)
    for unit in before:
        alike = _find_alike(unit, left)
        match = next((one for one in alike if holds_unit(unit, one)), alike[0] if alike else None)
        if match is None:
            yield end, end, b"\n" + unit.text.encode() + b"\n"
            continue
        left.remove(match)
        if holds_unit(unit, match):
            continue
        if unit.members and match.members and unit.head == match.head:
            yield from _list_splices(unit.members, match.members, True, match.inner_end)
        else:
            yield match.start, match.end, unit.text.encode()
    for unit in left if owned else ():
        if _FOCUSING.search(unit.text) or (unit.binds and any(one.key == unit.key for one in before)):
            yield unit.start, unit.end, b""


def find_weakenings_by_lines(change: Change) -> tuple[str, ...]:
    """Where the syntax is not known, lines may only be added, and none that skips; imports are free. A file with tests in it that
    is no test file is judged by its tests' names alone."""
    if may_hold_inline_tests(change.path) and not is_test_code(change.path):
        return ()
    lines = [line for line in change.patch.splitlines() if not line.startswith(("+++", "---"))]
    free = is_test_code(change.path)
    removed = [line[1:] for line in lines if line.startswith("-") and not (free and _IMPORT_LINE.match(line[1:]))]
    if removed or not change.patch or (change.removed and not any(line.startswith("-") for line in lines)):
        return (
            f"{change.path}: `{removed[0].strip()[:80]}` was altered or removed" if removed else f"{change.path} was altered",
        )
    added = [line[1:] for line in lines if line.startswith("+")]
    skipping = [line.strip() for line in added if free and _SKIPPING_LINE.search(line)]
    return tuple(f"{change.path}: `{line[:80]}` was added" for line in skipping[:1])
