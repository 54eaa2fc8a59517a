"""Tests that existed at the base are not the task's to weaken."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from afresh.domain.change import Change
from afresh.domain.paths import in_test_folder, is_conftest, is_test
from afresh.domain.task import Check
from afresh.engine.verify.configuration import changed_settings, is_configuration
from afresh.engine.verify.python_tests import added_conftest, weakened_python
from afresh.errors import ModelMistake
from afresh.ports import Bench, Files, Workspace

_SKIPS = re.compile(
    r"\.(?:skip|only|todo)\b|\bx(?:it|describe|test)\(|\bt\.Skip|#\[ignore|@(?:Disabled|Ignore)\b|\bskip\(|\bpending\(|^\s*return\b|/\*"
)


@dataclass(frozen=True, slots=True)
class Touched:
    """A changed path that may bear on how the task is judged, before and after; None where there was no (readable) text."""

    change: Change
    base: str | None
    now: str | None


def protected(path: str) -> bool:
    """Tests, and what lies beside them for them to read."""
    return is_test(path) or in_test_folder(path)


def weakened(bench: Bench, workspace: Workspace, checks: Sequence[Check]) -> Mapping[str, tuple[str, ...]]:
    """Files that weaken the tests of the base, and in which ways; empty when none does. The tree is left as it was found."""
    snapshot = workspace.snapshot()
    changes = workspace.changes(bench.state.opened, snapshot)
    governing = _test_files_of_the_base(bench.files, changes)
    relevant = [change for change in changes if _is_relevant(change, checks, governing)]
    if not relevant:
        return {}
    touched = _both_sides(bench, workspace, relevant, snapshot)
    return {one.change.path: found for one in touched if (found := _findings(one, checks))}


def _test_files_of_the_base(files: Files, changes: Sequence[Change]) -> frozenset[str]:
    added = {change.path for change in changes if change.kind == "added"}
    deleted = {change.path for change in changes if change.kind == "deleted"}
    return frozenset(path for path in {*files.paths(), *deleted} - added if is_test(path))


def _is_relevant(change: Change, checks: Sequence[Check], tests: frozenset[str]) -> bool:
    if change.kind == "added":
        return (is_conftest(change.path) or is_configuration(change.path, checks)) and governs(change.path, tests)
    return protected(change.path) or is_configuration(change.path, checks)


def governs(path: str, tests: frozenset[str]) -> bool:
    """A configuration file bears on the tests in and below its folder."""
    folder = str(PurePosixPath(path).parent)
    return folder in (".", "src") or any(test.startswith(folder + "/") for test in tests)


def _both_sides(bench: Bench, workspace: Workspace, changes: Sequence[Change], snapshot: str) -> list[Touched]:
    paths = [change.path for change in changes]
    now = _texts(bench.files, paths)
    workspace.restore(bench.state.opened, paths)
    try:
        base = _texts(bench.files, paths)
    finally:
        workspace.restore(snapshot)
    return [Touched(change, base.get(change.path), now.get(change.path)) for change in changes]


def _texts(files: Files, paths: Sequence[str]) -> Mapping[str, str]:
    present = frozenset(files.paths())
    texts: dict[str, str] = {}
    for path in paths:
        if path in present:
            try:
                texts[path] = files.read(path)
            except (ModelMistake, UnicodeDecodeError):
                continue
    return texts


def _findings(touched: Touched, checks: Sequence[Check]) -> tuple[str, ...]:
    path = touched.change.path
    if is_configuration(path, checks):
        return changed_settings(path, touched.base, touched.now, checks)
    if touched.change.kind == "deleted":
        return (f"{path} was deleted",)
    if not path.endswith(".py"):
        return _by_lines(touched.change)
    try:
        return _by_syntax(path, touched.base or "", touched.now or "")
    except (SyntaxError, ValueError, RecursionError):
        return _by_lines(touched.change)


def _by_syntax(path: str, base: str, now: str) -> tuple[str, ...]:
    found = weakened_python(path, base, now)
    return (*found, *added_conftest(path, now, base)) if is_conftest(path) else found


def _by_lines(change: Change) -> tuple[str, ...]:
    """Where the syntax is not known, lines may only be added, and none that skips."""
    if change.removed or not change.patch:
        return (f"{change.path} was altered",)
    added = [line[1:] for line in change.patch.splitlines() if line.startswith("+") and not line.startswith("+++")]
    skipping = [line.strip() for line in added if is_test(change.path) and _SKIPS.search(line)]
    return tuple(f"{change.path}: `{line[:80]}` was added" for line in skipping[:1])
