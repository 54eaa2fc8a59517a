"""Which changed files weaken the tests of the base, and how."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from afresh.core.change import Change
from afresh.core.licences.licence_for_tests import Weakening, WeakeningWay
from afresh.core.recognise_test_files import is_conftest, is_in_test_folder, is_test_code
from afresh.core.task import Check
from afresh.ports.tool import ToolContext
from afresh.ports.workspace import FileTree, Workspace, read_text
from afresh.verification.check_configuration import (
    find_changed_settings,
    has_stricter_filters,
    is_check_configuration,
    list_changed_settings,
)
from afresh.verification.weakened_python_tests import find_weakened_python_tests
from afresh.verification.weakened_tests_by_grammar import (
    find_weakened_tests_elsewhere,
    find_weakenings_by_lines,
    may_hold_inline_tests,
)


@dataclass(frozen=True, slots=True)
class ProtectedFileChange:
    """A changed path that may bear on how the task is judged, before and after; None where there was no (readable) text."""

    change: Change
    base: str | None
    now: str | None

    @property
    def path(self) -> str:
        return self.change.path


WeakenedFiles = Mapping[ProtectedFileChange, tuple[Weakening, ...]]
"""What weakens the tests of the base, by file."""


def is_protected_path(path: str) -> bool:
    """Tests, and what lies beside them for them to read."""
    return is_test_code(path) or is_in_test_folder(path)


def find_weakened_tests(context: ToolContext, workspace: Workspace, checks: Sequence[Check]) -> WeakenedFiles:
    """Files that weaken the tests of the base, and in which ways; empty when none does. The tree is left as it was found."""
    snapshot = workspace.snapshot()
    changes = workspace.changes(context.state.workspace.first_snapshot, snapshot)
    governing = _list_base_test_files(context.files, changes)
    relevant = [change for change in changes if _is_relevant(change, checks, governing)]
    if not relevant:
        return {}
    touched = _read_both_sides(context, workspace, relevant, snapshot)
    return {one: found for one in touched if (found := find_weakenings(one, checks))}


def _list_base_test_files(files: FileTree, changes: Sequence[Change]) -> frozenset[str]:
    added = {change.path for change in changes if change.kind == "added"}
    deleted = {change.path for change in changes if change.kind == "deleted"}
    return frozenset(path for path in {*files.paths(), *deleted} - added if is_test_code(path))


def _is_relevant(change: Change, checks: Sequence[Check], tests: frozenset[str]) -> bool:
    if change.kind == "added":
        return (is_conftest(change.path) or is_check_configuration(change.path, checks)) and has_tests_in_scope(
            change.path, tests
        )
    return is_protected_path(change.path) or may_hold_inline_tests(change.path) or is_check_configuration(change.path, checks)


def has_tests_in_scope(path: str, tests: frozenset[str]) -> bool:
    """A configuration file bears on the tests in and below its folder."""
    folder = str(PurePosixPath(path).parent)
    return folder in (".", "src") or any(test.startswith(folder + "/") for test in tests)


def _read_both_sides(
    context: ToolContext, workspace: Workspace, changes: Sequence[Change], snapshot: str
) -> list[ProtectedFileChange]:
    paths = [change.path for change in changes]
    now = _read_texts(context.files, paths)
    workspace.restore(context.state.workspace.first_snapshot, paths)
    try:
        base = _read_texts(context.files, paths)
    finally:
        workspace.restore(snapshot)
    return [ProtectedFileChange(change, base.get(change.path), now.get(change.path)) for change in changes]


def _read_texts(files: FileTree, paths: Sequence[str]) -> Mapping[str, str]:
    present = frozenset(files.paths())
    return {path: text for path in paths if path in present and (text := read_text(files, path)) is not None}


def find_weakenings(touched: ProtectedFileChange, checks: Sequence[Check]) -> tuple[Weakening, ...]:
    path = touched.path
    if is_check_configuration(path, checks):
        return find_weakening_settings(path, touched.base, touched.now, checks)
    if touched.change.kind == "deleted" and is_protected_path(path):
        return (Weakening(path, WeakeningWay.REMOVE, f"{path} was deleted"),)
    if not path.endswith(".py"):
        told = find_weakened_tests_elsewhere(touched.change, touched.base, touched.now)
        return tuple(Weakening(path, WeakeningWay.ALTER, one) for one in told)
    try:
        return find_weakened_python_tests(path, touched.base or "", touched.now or "")
    except (SyntaxError, ValueError, RecursionError):
        return tuple(Weakening(path, WeakeningWay.ALTER, one) for one in find_weakenings_by_lines(touched.change))


def find_weakening_settings(path: str, base: str | None, now: str | None, checks: Sequence[Check]) -> tuple[Weakening, ...]:
    """Changed settings of what judges, one by one where the file can be read so. Of filters of warnings entries may go only by a
    licence to skip: what they turned into errors would pass."""
    told = find_changed_settings(path, base, now, checks)
    if not told or not (names := list_changed_settings(path, base, now, checks)):
        return tuple(Weakening(path, WeakeningWay.CONFIGURE, one) for one in told)
    return tuple(
        Weakening(
            path,
            WeakeningWay.SKIP if name.endswith(".filterwarnings") and not grown else WeakeningWay.CONFIGURE,
            f"{path}: the setting {name} was changed",
            name,
        )
        for name, grown in names.items()
        if not (name.endswith(".filterwarnings") and has_stricter_filters(path, base, now, name))
    )
