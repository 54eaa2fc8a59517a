"""The tests that a task added, run on the code as it was before: one that passes there, too, does not show the change."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from afresh.core.archived_block import Block
from afresh.core.change import Change
from afresh.core.recognise_test_files import is_protected_path, is_test_file
from afresh.core.rewrite_check_command import narrow_to_tests
from afresh.core.task import FIX_BUG_TYPE, FIX_VIOLATION_TYPE, REFACTOR_TYPE, WRITE_TESTS_TYPE
from afresh.core.verdict import NoteKind, Ruling, Verdict, VerdictNote
from afresh.ports.tool import ToolContext
from afresh.ports.workspace import Workspace
from afresh.verification.checks import CheckResult, run_check
from afresh.verification.regressions import CheckComparison, collect_archived_blocks, pair_checks_with_baseline

ON_BASE_SCOPE = "new tests, on the code of the base"
TYPES_THAT_KEEP_BEHAVIOUR = frozenset({WRITE_TESTS_TYPE, REFACTOR_TYPE, FIX_VIOLATION_TYPE})
"""Their new tests are meant to pass on the code as it was."""
BUG_NOT_SHOWN = (
    "nothing shows that the bug is fixed: no failing test passes now. Make one pass, or, if the bug has nothing to do with them, "
    "add a test that fails without your change"
)
Judged = tuple[Verdict, tuple[Block, ...]]


def add_new_tests_to_verdict(
    context: ToolContext, workspace: Workspace, changes: Sequence[Change], judgements: Sequence[CheckComparison], verdict: Verdict
) -> Judged:
    """The verdict with the tests that are new, and those of them that pass without the change. A bug beside tests that stay red
    needs one that turns green; else this is evidence and refuses nothing. The tree is left as it was found."""
    blocks = collect_archived_blocks(judgements)
    new, judged_as = find_new_tests(context, judgements), context.state.task.judged_as
    if verdict.ruling is not Ruling.PASS:
        return verdict, blocks
    verdict, keeps = replace(verdict, new_tests=len(new)), judged_as in TYPES_THAT_KEEP_BEHAVIOUR
    runs = run_tests_on_base(context, workspace, changes, judgements) if new and not keeps else []
    passing = sorted(new & frozenset(test for ran in runs for test in ran.outcomes.passing))
    verdict = verdict.add_note(NoteKind.UNPROVEN, passing)
    silent = len(passing) == len(new) and not verdict.list_facts(NoteKind.ALLOWED) and (verdict.still_failing or not keeps)
    if silent and not has_turned_green(context, judgements):
        if verdict.still_failing and judged_as == FIX_BUG_TYPE:
            verdict = replace(verdict, ruling=Ruling.FAIL, finding=f"{BUG_NOT_SHOWN}. {verdict.finding}")
        else:
            verdict = replace(verdict, notes=(*verdict.notes, VerdictNote(NoteKind.NOT_SHOWN)))
    return verdict, (*blocks, *[block for ran in runs for block in ran.blocks])


def has_turned_green(context: ToolContext, judgements: Sequence[CheckComparison]) -> bool:
    """Whether a check, or a test that can be read, failed before the task and passes now."""
    passing = {test for judgement in judgements for test in judgement.ran.outcomes.passing}
    green = {judgement.ran.run.command for judgement in judgements if not judgement.ran.run.exit}
    return any(
        (before.run.exit and before.run.command in green) or before.outcomes.failing & passing
        for _, before in pair_checks_with_baseline(context)
    )


def find_new_tests(context: ToolContext, judgements: Sequence[CheckComparison]) -> frozenset[str]:
    """By name: tests that pass now and that the baseline did not have."""
    new = frozenset(test for one in judgements for test in one.ran.outcomes.passing)
    for _, before in pair_checks_with_baseline(context):
        new = before.drop_unstable(new - before.outcomes.tests.keys() - before.flaky)
    return new


def run_tests_on_base(
    context: ToolContext, workspace: Workspace, changes: Sequence[Change], judgements: Sequence[CheckComparison]
) -> list[CheckResult]:
    """The checks with the tests of the task and the code of the base, narrowed to the changed test files where possible."""
    whole = frozenset(fact for one in judgements for note in one.notes if note.kind is NoteKind.RUNS_WHOLE for fact in note.facts)
    snapshot = workspace.snapshot()
    moved = [change.path for change in changes if change.kind != "deleted" and is_protected_path(change.path)]
    if not moved:
        return []
    try:
        workspace.restore(context.state.workspace.first_snapshot)
        workspace.restore(snapshot, moved)
        return list(_run_checks(context, [path for path in moved if is_test_file(path)], whole))
    finally:
        workspace.restore(snapshot)


def _run_checks(context: ToolContext, tests: Sequence[str], whole: Collection[str]) -> Iterator[CheckResult]:
    for check in context.state.task.checks:
        narrowed = None if check.command in whole else narrow_to_tests(check.command, tests)
        yield run_check(context.sandbox, check, narrowed=narrowed or "", scope=ON_BASE_SCOPE)
