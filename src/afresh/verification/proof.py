"""Does a changed test belong to the change of the code? Runs show it, where the order does not name the test itself.

As it was it must fail with the new code; as it is it must fail with the code of the base, and pass with the new code. So a test
that has nothing to do with the change stays, and one that accepts anything is seen. One that only follows a name of the code is
proven by another that follows the same name; one that was extended still demands what it did, one that was shortened demands
nothing new.
"""

import re
from collections.abc import Iterator, Sequence
from keyword import iskeyword

from afresh.core.change import Change
from afresh.core.leave import ChangedUnit
from afresh.core.recognise_test_files import is_protected_path, is_test_file
from afresh.core.rewrite_check_command import narrow_to_tests
from afresh.core.verdict import list_first_names
from afresh.outputs.outcomes import OutcomesByTest
from afresh.ports.tool import ToolContext
from afresh.ports.workspace import Workspace
from afresh.verification.checks import run_check
from afresh.verification.new_tests_on_base import run_tests_on_base
from afresh.verification.permission import LeaveJudgement, is_named_by, is_single_test
from afresh.verification.regressions import CheckComparison, pair_checks_with_baseline

AS_AT_BASE_SCOPE = "the new code, with what was changed beside the tests as at the base"
HOW_TO_GO_ON = "let it demand what is new, with the input that it had; or put it back as it was, or `ask`"


def find_unproven_changes(
    context: ToolContext,
    workspace: Workspace,
    changes: Sequence[Change],
    judged: LeaveJudgement,
    judgements: Sequence[CheckComparison],
) -> str:
    """Why completion is refused; empty if each change of a test is ordered or proven. The tree is left as it was found."""
    follows = [one for one, leave in judged.allowed if leave.needs_proof]
    apart = [one for one in follows if is_protected_path(one.path)]  # tests inside product code have no old code to run on
    if not follows:
        return ""
    with_base_tests = [one.ran.outcomes for one in judgements if one.with_base_tests]
    shared = [one.path for one in apart if not is_single_test(one)]
    without_shared = [*_run_as_at_base(context, workspace, shared)]
    beside = {change.path for change in changes if judged.is_tried_as_delivered(change)} - {*shared}
    if any(one.path in beside for one in apart):
        with_base_tests += _run_as_at_base(context, workspace, list(dict.fromkeys(one.path for one in apart)))
    failing = [one for one in apart if _has_failing(one, without_shared if one.path in shared else with_base_tests)]
    if idle := _list_unproven([unit for unit in apart if unit.what != "extended"], failing, changes):
        return _refuse("does not fail, as it was, with the new code", idle)
    kept = [one for one in apart if one.what not in ("removed", "deleted", "shortened")]
    on_base = [ran.outcomes for ran in run_tests_on_base(context, workspace, changes, judgements)] if kept else []
    if idle := _list_unproven(kept, [one for one in kept if _has_failing(one, on_base)], changes):
        return _refuse("passes on the code of the base, too", idle)
    delivered = [one.ran.outcomes for one in judgements if not one.with_base_tests]
    before = [known.outcomes for _, known in pair_checks_with_baseline(context)]
    lost = [one for one in kept if is_single_test(one) and not _count_passing(one, delivered, before)]
    lost += [
        one
        for one in follows
        if one not in apart and _count_passing(one, delivered, before) < _count_passing(one, before, before)
    ]
    return _refuse("does not pass with the new code", lost) if lost else ""


def _list_unproven(ones: Sequence[ChangedUnit], failing: Sequence[ChangedUnit], changes: Sequence[Change]) -> list[ChangedUnit]:
    """Those that do not fail, but for what only follows the same names as one that does."""
    proven = {pair for unit in failing for pair in _list_renames(unit, changes)}
    rest = [unit for unit in ones if unit not in failing]
    return [unit for unit in rest if not (names := _list_renames(unit, changes)) or not names <= proven]


def _list_renames(unit: ChangedUnit, changes: Sequence[Change]) -> set[tuple[str, str]]:
    """Names in its text and those in their place, if all else is the same, and so it is in the code."""
    before, after = (re.findall(r"\w+|\W", text) for text in (unit.before, unit.after))
    pairs = {(old, new) for old, new in zip(before, after, strict=False) if old != new}
    lines = [line for change in changes if not is_protected_path(change.path) for line in change.patch.splitlines()]
    gone, came = ({word for line in lines if line[:1] == sign for word in re.findall(r"\w+", line)} for sign in "-+")
    names = {word for word in gone ^ came if word.isidentifier() and not iskeyword(word)}
    fits = all(old in gone & names and new in came & names and old not in after for old, new in pairs)
    return pairs if fits and len(before) == len(after) and len(dict(pairs)) == len(pairs) else set()


def _refuse(why: str, ones: Sequence[ChangedUnit]) -> str:
    return f"a test was changed that {why}: {list_first_names(one.subject for one in ones)} ({HOW_TO_GO_ON})"


def _run_as_at_base(context: ToolContext, workspace: Workspace, paths: Sequence[str]) -> Iterator[OutcomesByTest]:
    """The checks on the work, with these helpers and values as they were."""
    snapshot = workspace.snapshot()
    try:
        workspace.restore(context.state.workspace.first_snapshot, paths) if paths else None
        for check in context.state.task.checks if paths else ():
            narrowed = narrow_to_tests(check.command, list(paths)) if all(map(is_test_file, paths)) else ""
            yield run_check(context.sandbox, check, narrowed=narrowed or "", scope=AS_AT_BASE_SCOPE).outcomes
    finally:
        workspace.restore(snapshot)


def _has_failing(one: ChangedUnit, runs: Sequence[OutcomesByTest]) -> bool:
    """Whether the test fails; of a value or a helper, one of its file; where no test is known to be in that file, any."""
    meant = one if is_single_test(one) else ChangedUnit(one.path)
    failing = [test for outcomes in runs for test in outcomes.failing]
    named = any(is_named_by(meant, test) or test == one.path for test in failing)
    return named or bool(failing and not _has_files(one, runs))


def _has_files(one: ChangedUnit, runs: Sequence[OutcomesByTest]) -> bool:
    """Whether the runner names the file that its tests are in: cargo and Surefire do not."""
    return any(is_named_by(ChangedUnit(one.path), test) for outcomes in runs for test in outcomes.tests)


def _count_passing(one: ChangedUnit, runs: Sequence[OutcomesByTest], before: Sequence[OutcomesByTest]) -> int:
    """Of its file or test; where the runner names no files, of all."""
    named = _has_files(one, before)
    return sum(not named or is_named_by(one, test) for outcomes in runs for test in outcomes.passing)
