"""Tests that were changed because the order only implies it: is that for the sake of the new behaviour?

Words can't show this, runs can. A test that was altered must fail with the code of the base: it demands something new. One that
is gone, or has lost a part by words that let something go, must fail, as it was, with the new code. So tests that have nothing to
do with the change stay, and one that now accepts anything is seen.
"""

from collections.abc import Sequence

from afresh.core.change import Change
from afresh.core.licences.licence_for_tests import Weakening, WeakeningWay
from afresh.core.verdict import list_first_names
from afresh.outputs.test_reports.outcomes import OutcomesByTest
from afresh.ports.tool import ToolContext
from afresh.ports.workspace import Workspace
from afresh.verification.judge_test_changes import ChangedTests, is_named_by, is_single_test
from afresh.verification.new_tests_on_base import run_tests_on_base
from afresh.verification.protected_tests import is_protected_path
from afresh.verification.regressions import CheckComparison, pair_checks_with_baseline

HOW_TO_GO_ON = "let it demand what is new, with the input that it had; or put it back as it was, or `ask`"


def refuse_unproven_changes(
    context: ToolContext,
    workspace: Workspace,
    changes: Sequence[Change],
    judged: ChangedTests,
    judgements: Sequence[CheckComparison],
) -> str:
    """Why completion is refused; empty if each change of a test is ordered or proven. The tree is left as it was found."""
    hinted = [one for one, entry in judged.licensed if entry.needs_proof]
    if not hinted:
        return ""
    gone = [one for one in hinted if one.way in (WeakeningWay.REMOVE, WeakeningWay.REPLACE)]
    kept = [one for one in hinted if one not in gone]
    with_base_tests = [one.ran.outcomes for one in judgements if one.with_base_tests]
    if unbroken := [one.subject for one in gone if not _is_broken(one, with_base_tests, judged, changes)]:
        return f"removed that does not fail, as it was, with the new code: {list_first_names(unbroken)} ({HOW_TO_GO_ON})"
    delivered = [one.ran.outcomes for one in judgements if not one.with_base_tests]
    before = [known.outcomes for _, known in pair_checks_with_baseline(context)]
    if fewer := [one.subject for one in kept if not one.name and _count_passing(one, delivered) < _count_passing(one, before)]:
        return f"lost, since fewer pass than before: {list_first_names(fewer)} ({HOW_TO_GO_ON})"
    on_base = [ran.outcomes for ran in run_tests_on_base(context, workspace, changes)] if kept else []
    cut = {one for one, entry in judged.licensed if WeakeningWay.REMOVE in entry.ways and _has_failing(one, with_base_tests)}
    apart = [one for one in kept if is_protected_path(one.path)]  # tests inside product code have no old code to run on
    idle = [one.subject for one in apart if one not in cut and not _has_failing(one, on_base)]
    return f"changed so that it passes on the code of the base, too: {list_first_names(idle)} ({HOW_TO_GO_ON})" if idle else ""


def _is_broken(one: Weakening, runs: Sequence[OutcomesByTest], judged: ChangedTests, changes: Sequence[Change]) -> bool:
    """By the run with the tests of the base. A file of which values or helpers were changed, too, is tried as delivered only:
    there the run on the code of the base has to show it."""
    file = next((change for change in changes if change.path == one.path), None)
    return (file is not None and judged.is_tried_as_delivered(file)) or _has_failing(one, runs)


def _has_failing(one: Weakening, runs: Sequence[OutcomesByTest]) -> bool:
    """Whether the test fails; of a value or a helper, or where tests have no names of their own, one of its file; where the
    runner names no files, any."""
    by_file = Weakening(one.path, one.way, "")
    meant = one if one.name and is_single_test(one) else by_file
    failing = [test for outcomes in runs for test in outcomes.failing]
    return any(is_named_by(meant, test) or test == one.path for test in failing) or bool(failing and not _has_files(one, runs))


def _has_files(one: Weakening, runs: Sequence[OutcomesByTest]) -> bool:
    """Whether the runner names the file that its tests are in: cargo and Surefire do not."""
    return any(is_named_by(Weakening(one.path, one.way, ""), test) for outcomes in runs for test in outcomes.tests)


def _count_passing(one: Weakening, runs: Sequence[OutcomesByTest]) -> int:
    """Of its file; where the runner names no files, of all."""
    named = _has_files(one, runs)
    return sum(not named or is_named_by(one, test) for outcomes in runs for test in outcomes.passing)
