"""Tests that existed at the base are not the task's to weaken."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from afresh.domain.change import Change
from afresh.domain.paths import is_in_test_folder, is_conftest, is_test_code
from afresh.domain.task import Check
from afresh.engine.verify.configuration import find_changed_settings, is_check_configuration
from afresh.engine.verify.python_tests import find_added_hooks, find_weakened_python_tests
from afresh.errors import ModelMistake
from afresh.ports import ToolContext, FileTree, Workspace

_SKIPPING_LINE = re.compile(
    r"\.(?:skip|only|todo)\b|\bx(?:it|describe|test)\(|\bt\.Skip|#\[ignore|@(?:Disabled|Ignore)\b|\bskip\(|\bpending\(|^\s*return\b|/\*"
)


@dataclass(frozen=True, slots=True)
class ProtectedFileChange:
    """A changed path that may bear on how the task is judged, before and after; None where there was no (readable) text."""

    change: Change
    base: str | None
    now: str | None


def is_protected_path(path: str) -> bool:
    """Tests, and what lies beside them for them to read."""
    return is_test_code(path) or is_in_test_folder(path)


def find_weakened_tests(bench: ToolContext, workspace: Workspace, checks: Sequence[Check]) -> Mapping[str, tuple[str, ...]]:
    """Files that weaken the tests of the base, and in which ways; empty when none does. The tree is left as it was found."""
    snapshot = workspace.snapshot()
    changes = workspace.changes(bench.state.opened, snapshot)
    governing = _list_base_test_files(bench.files, changes)
    relevant = [change for change in changes if _is_relevant(change, checks, governing)]
    if not relevant:
        return {}
    touched = _read_both_sides(bench, workspace, relevant, snapshot)
    return {one.change.path: found for one in touched if (found := _find_weakenings(one, checks))}


def _list_base_test_files(files: FileTree, changes: Sequence[Change]) -> frozenset[str]:
    added = {change.path for change in changes if change.kind == "added"}
    deleted = {change.path for change in changes if change.kind == "deleted"}
    return frozenset(path for path in {*files.paths(), *deleted} - added if is_test_code(path))


def _is_relevant(change: Change, checks: Sequence[Check], tests: frozenset[str]) -> bool:
    if change.kind == "added":
        return (is_conftest(change.path) or is_check_configuration(change.path, checks)) and has_tests_in_scope(
            change.path, tests
        )
    return is_protected_path(change.path) or is_check_configuration(change.path, checks)


def has_tests_in_scope(path: str, tests: frozenset[str]) -> bool:
    """A configuration file bears on the tests in and below its folder."""
    folder = str(PurePosixPath(path).parent)
    return folder in (".", "src") or any(test.startswith(folder + "/") for test in tests)


def _read_both_sides(
    bench: ToolContext, workspace: Workspace, changes: Sequence[Change], snapshot: str
) -> list[ProtectedFileChange]:
    paths = [change.path for change in changes]
    now = _read_texts(bench.files, paths)
    workspace.restore(bench.state.opened, paths)
    try:
        base = _read_texts(bench.files, paths)
    finally:
        workspace.restore(snapshot)
    return [ProtectedFileChange(change, base.get(change.path), now.get(change.path)) for change in changes]


def _read_texts(files: FileTree, paths: Sequence[str]) -> Mapping[str, str]:
    present = frozenset(files.paths())
    texts: dict[str, str] = {}
    for path in paths:
        if path in present:
            try:
                texts[path] = files.read(path)
            except (ModelMistake, UnicodeDecodeError):
                continue
    return texts


def _find_weakenings(touched: ProtectedFileChange, checks: Sequence[Check]) -> tuple[str, ...]:
    path = touched.change.path
    if is_check_configuration(path, checks):
        return find_changed_settings(path, touched.base, touched.now, checks)
    if touched.change.kind == "deleted":
        return (f"{path} was deleted",)
    if not path.endswith(".py"):
        return _find_weakenings_by_lines(touched.change)
    try:
        return _find_weakenings_by_syntax(path, touched.base or "", touched.now or "")
    except (SyntaxError, ValueError, RecursionError):
        return _find_weakenings_by_lines(touched.change)


def _find_weakenings_by_syntax(path: str, base: str, now: str) -> tuple[str, ...]:
    found = find_weakened_python_tests(path, base, now)
    return (*found, *find_added_hooks(path, now, base)) if is_conftest(path) else found


def _find_weakenings_by_lines(change: Change) -> tuple[str, ...]:
    """Where the syntax is not known, lines may only be added, and none that skips."""
    if change.removed or not change.patch:
        return (f"{change.path} was altered",)
    added = [line[1:] for line in change.patch.splitlines() if line.startswith("+") and not line.startswith("+++")]
    skipping = [line.strip() for line in added if is_test_code(change.path) and _SKIPPING_LINE.search(line)]
    return tuple(f"{change.path}: `{line[:80]}` was added" for line in skipping[:1])
