"""A test that newly fails is run again before a change is undone: if it passes then, it is flaky, and undoes nothing."""

from collections.abc import Callable, Iterable
from dataclasses import replace

from afresh.core.action import PLAIN_MANNER, RunManner
from afresh.core.rewrite_check_command import narrow_to_names
from afresh.core.task import Check
from afresh.core.verdict import NoteKind, VerdictNote
from afresh.outputs.outcomes import OutcomesByTest
from afresh.ports.tool import ToolContext
from afresh.verification.checks import CheckResult, run_check
from afresh.verification.regressions import BaselineCheck, CheckComparison

MAX_TESTS_RUN_AGAIN = 5
"""More tests that fail at once are no accident."""
MAX_WHOLE_RUNS_AGAIN = 2
Compare = Callable[[CheckResult, BaselineCheck], CheckComparison]


def confirm_step_regressions(
    context: ToolContext, check: Check, ran: CheckResult, before: BaselineCheck, compare: Compare
) -> CheckComparison:
    """The comparison of a run, after the tests that it lost were run again alone; where a check has no names, as a whole."""
    judged = compare(ran, before)
    if not judged.problem or ran.run.timed_out:
        return judged
    if not judged.regressions:
        return judged if ran.outcomes.readable else _confirm_unnamed(context, check, judged, before, compare)
    passed = _find_passing_alone(context, check, judged, before)
    return _compare_without(passed, judged, before, compare, NoteKind.FLAKY_ALONE)


def confirm_final_regressions(
    context: ToolContext,
    check: Check,
    ran: CheckResult,
    before: BaselineCheck,
    compare: Compare,
    manner: RunManner = PLAIN_MANNER,
) -> CheckComparison:
    """At the end a test that passes alone must also pass in a run of the whole check: another may break it each time."""
    judged = compare(ran, before)
    if not judged.regressions or ran.run.timed_out:
        return judged
    alone = _find_passing_alone(context, check, judged, before, manner)
    passed = frozenset[str]()
    for _ in range(MAX_WHOLE_RUNS_AGAIN if alone else 0):
        passed |= _find_passing(alone, run_check(context.sandbox, check, manner=manner).outcomes)
        if passed == alone:
            return _compare_without(passed, judged, before, compare, NoteKind.FLAKY)
    note = (VerdictNote(NoteKind.PASSES_ALONE, tuple(sorted(alone - passed))),) if alone - passed else ()
    judged = _compare_without(passed, judged, before, compare, NoteKind.FLAKY)
    return replace(judged, notes=(*judged.notes, *note))


def _confirm_unnamed(
    context: ToolContext, check: Check, judged: CheckComparison, before: BaselineCheck, compare: Compare
) -> CheckComparison:
    again = compare(run_check(context.sandbox, check), before)
    note = VerdictNote(NoteKind.PASSED_AGAIN, (check.command,))
    return judged if again.problem else replace(again, notes=(*again.notes, note))


def _find_passing_alone(
    context: ToolContext, check: Check, judged: CheckComparison, before: BaselineCheck, manner: RunManner = PLAIN_MANNER
) -> frozenset[str]:
    """Of the tests that fail newly those that pass when nothing else is run; where that can't be, in a second run of all."""
    lost = frozenset(judged.regressions) & judged.ran.outcomes.failing
    if not lost or len(lost) > MAX_TESTS_RUN_AGAIN or not before.decides:
        return frozenset()
    command = narrow_to_names(check.command, sorted(lost)) or ""
    return _find_passing(lost, run_check(context.sandbox, check, narrowed=command, manner=manner).outcomes)


def _find_passing(tests: Iterable[str], outcomes: OutcomesByTest) -> frozenset[str]:
    """A file that could not be loaded passes if something in it does and nothing fails."""
    passing = outcomes.passing
    return frozenset(
        test
        for test in tests
        if test in passing
        or (not any(one.startswith(test) for one in outcomes.failing) and any(one.startswith(f"{test}::") for one in passing))
    )


def _compare_without(
    passed: frozenset[str], judged: CheckComparison, before: BaselineCheck, compare: Compare, how: NoteKind
) -> CheckComparison:
    if not passed:
        return judged
    again = compare(judged.ran, replace(before, flaky=before.flaky | passed))
    return replace(again, notes=(*again.notes, VerdictNote(how, tuple(sorted(passed)))))
