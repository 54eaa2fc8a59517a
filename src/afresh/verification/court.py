"""The court: files of the base that the checks read and that are not the product. Which of them a task has changed."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from afresh.core.change import Change
from afresh.core.recognise_test_files import get_file_stem
from afresh.core.task import Check
from afresh.ports.tool import ToolContext
from afresh.ports.workspace import Workspace
from afresh.verification.check_configuration import is_check_configuration
from afresh.verification.protected_tests import is_protected_path
from afresh.verification.regressions import select_conclusive_checks
from afresh.verification.weakened_tests_by_grammar import may_hold_inline_tests


class CourtKind(StrEnum):
    TESTS = "tests"
    """Test code, and what else lies in folders of tests: compared unit by unit where it is code."""
    INLINE = "inline tests"
    """Product code with tests in it: doctests, `#[test]`. The court's run takes it as the commit has it."""
    SETTINGS = "settings"
    """Of test runners, toolchains and tools that judge."""
    SCRIPT = "script"
    """What the command starts, and code that only tests use and that judges."""
    DATA = "data"
    """What tests read and no product code names. It needs leave only where the work does not pass without the change."""


@dataclass(frozen=True, slots=True)
class CourtChange:
    """A court file that the task has changed, deleted or added. What was added is absent in its run and needs no leave."""

    change: Change
    kind: CourtKind
    base: bytes | None
    """None where there was no file."""
    now: bytes | None

    @property
    def path(self) -> str:
        return self.change.path

    @property
    def base_text(self) -> str | None:
        return decode_text(self.base)

    @property
    def now_text(self) -> str | None:
        return decode_text(self.now)


@dataclass(frozen=True, slots=True)
class Leave:
    """What may change in the court."""

    files: frozenset[str] = frozenset()
    """The court's run takes these as the commit has them; all others are as at the base."""
    tests: frozenset[str] = frozenset()
    """Names of tests as the runner reports them. As they were at the base they decide nothing; as the commit has them they must
    pass, or may be gone."""


def decode_text(held: bytes | None) -> str | None:
    """None for what is no text."""
    try:
        return held.decode() if held is not None else None
    except UnicodeDecodeError:
        return None


def find_court_changes(context: ToolContext, workspace: Workspace) -> tuple[CourtChange, ...]:
    """All changes of the court since the base, as the tree is now."""
    first, now = context.state.workspace.first_snapshot, workspace.snapshot()
    changes, checks = workspace.changes(first, now), select_conclusive_checks(context)
    kinds = [(change, kind) for change in changes if (kind := _find_kind(change, checks))]
    paths = [change.path for change, _ in kinds]
    base, held = workspace.read_files(first, paths), workspace.read_files(now, paths)
    return tuple(CourtChange(change, kind, base.get(change.path), held.get(change.path)) for change, kind in kinds)


def _find_kind(change: Change, checks: Sequence[Check]) -> CourtKind | None:
    if is_check_configuration(change.path, checks):
        return CourtKind.SETTINGS
    if is_protected_path(change.path):
        return CourtKind.TESTS
    return CourtKind.INLINE if change.kind != "added" and may_hold_inline_tests(change.path) else None


def list_restored_files(changes: Sequence[CourtChange], leave: Leave) -> tuple[str, ...]:
    """Files that the court's run takes as at the base: all but those with leave, and what these need of what was added."""
    allowed = "\n".join(one.now_text or "" for one in changes if one.path in leave.files)
    needed = (
        one.path for one in changes if one.base is None and re.search(rf"\b{re.escape(get_file_stem(one.path))}\b", allowed)
    )
    kept = leave.files | frozenset(needed)
    return tuple(one.path for one in changes if one.kind is CourtKind.TESTS and one.path not in kept)
