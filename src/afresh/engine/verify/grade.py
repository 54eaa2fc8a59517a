"""At the claim to be finished: is the task done? Only this says so."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from afresh.domain.change import Change
from afresh.domain.fact import Block
from afresh.domain.paths import holds_tests, is_conftest
from afresh.domain.task import Check
from afresh.domain.verdict import Baseline, Ruling, Verdict
from afresh.engine.verify.baseline import MEASURED, blocker
from afresh.engine.verify.compare import Before, Judgement, judge_base, judge_final
from afresh.engine.verify.compiling import uncompilable
from afresh.engine.verify.protect import protected, weakened
from afresh.engine.verify.report import judge_report
from afresh.engine.verify.run import Ran, run_check
from afresh.engine.verify.step import archived, checks_before, joined
from afresh.engine.verify.summary import listed
from afresh.ports import Bench, Workspace

WRITES_TESTS = "write_tests"


def grade(bench: Bench, workspace: Workspace) -> tuple[Verdict, tuple[Block, ...]]:
    """The final verdict on the tree as it stands; the tree is left as it was found."""
    baseline, task = bench.state.baseline or Baseline(), bench.state.task
    measure = bench.insight.measure(bench.state, bench.files)
    snapshot = workspace.snapshot()
    changes = workspace.changes(bench.state.opened, snapshot)
    report = judge_report(bench, [change.path for change in changes], final=True) if task.report else None
    if report and (report.ruling is Ruling.FAIL or not task.checks):
        return report, ()
    if reason := blocker(task, baseline):
        return Verdict(Ruling.BLOCKED, reason, final=True, measure=measure), ()
    if early := _early(bench, workspace, changes, measure):
        return early, ()
    try:
        judgements = _judgements(bench, workspace, changes, snapshot)
    finally:
        workspace.restore(snapshot)
    verdict = _verdict(bench, judgements, changes, measure)
    return (replace(verdict, reason=f"{report.reason}; {verdict.reason}") if report else verdict), archived(judgements)


def _early(bench: Bench, workspace: Workspace, changes: Sequence[Change], measure: int) -> Verdict | None:
    """What needs no run to be refused."""
    task = bench.state.task
    if not changes:
        return Verdict(Ruling.FAIL, "nothing was changed", final=True, measure=measure)
    if broken := uncompilable(bench, [change.path for change in changes]):
        reason = "does not compile: " + "; ".join(failure.message for failure in broken.failures)
        return Verdict(Ruling.FAIL, reason, (broken,), final=True, measure=measure)
    found: Mapping[str, tuple[str, ...]] = {} if task.judged_as == WRITES_TESTS else weakened(bench, workspace, telling(bench))
    if found:
        ways = tuple(dict.fromkeys(way for ways in found.values() for way in ways))
        reason = f"tests that the task did not ask to change were weakened, so they are put back as they were: {listed(ways, 5)}"
        return Verdict(Ruling.FAIL, reason, final=True, measure=measure, weakened=tuple(found))
    return _unmeasured(bench, measure)


def telling(bench: Bench) -> list[Check]:
    """Checks that said something at the base: one that could not even start may be for the task to make."""
    return [check for check, known in checks_before(bench) if known.run.exit == 0 or known.outcomes.readable]


def _unmeasured(bench: Bench, measure: int) -> Verdict | None:
    """What a task is to lower must be lower; what its type merely counts may not rise."""
    was = (bench.state.baseline or Baseline()).measure
    lowers = bench.state.task.judged_as == MEASURED
    if measure > was or (lowers and measure == was):
        return Verdict(Ruling.FAIL, f"violations were to become fewer: {was} -> {measure}", final=True, measure=measure)
    return None


def _judgements(bench: Bench, workspace: Workspace, changes: Sequence[Change], snapshot: str) -> list[Judgement]:
    """The checks on the tree as delivered and, where it touches tests, before that with the base's own tests in their place."""
    known = checks_before(bench)
    replaced = [change.path for change in changes if _stands_in_the_way(change)]
    judgements: list[Judgement] = []
    if replaced:
        workspace.restore(bench.state.opened, replaced)
        judgements = [
            judge_base(_full(bench, check, before, "full, with the tests of the base"), before) for check, before in known
        ]
        workspace.restore(snapshot)
    waived = frozenset(replaced) if bench.state.task.judged_as == WRITES_TESTS else frozenset[str]()
    return [*judgements, *(_delivered(bench, check, before, waived) for check, before in known)]


def _stands_in_the_way(change: Change) -> bool:
    return is_conftest(change.path) if change.kind == "added" else protected(change.path)


def _full(bench: Bench, check: Check, before: Before, scope: str = "full") -> Ran:
    return run_check(bench.sandbox, check, scope=scope, known=before.outcomes.failing)


def _delivered(bench: Bench, check: Check, before: Before, rewritten: frozenset[str]) -> Judgement:
    """Whoever is to write tests may move those in the files that it rewrote; the run before this one has tried them."""
    waived = frozenset(test for test in before.firm if test.partition("::")[0] in rewritten)
    return judge_final(_full(bench, check, before), before, waived)


def _verdict(bench: Bench, judgements: Sequence[Judgement], changes: Sequence[Change], measure: int) -> Verdict:
    was = (bench.state.baseline or Baseline()).measure
    verdict = replace(joined(judgements, measure), final=True)
    writes_tests = bench.state.task.judged_as == WRITES_TESTS
    if verdict.ruling is Ruling.PASS and writes_tests and not _new_tests(bench, judgements, changes):
        return replace(verdict, ruling=Ruling.FAIL, reason="no new test was written: " + verdict.reason)
    return replace(verdict, reason=f"{verdict.reason}; violations {was} -> {measure}") if was else verdict


def _new_tests(bench: Bench, judgements: Sequence[Judgement], changes: Sequence[Change]) -> bool:
    """By name where names are known, else by lines added to test files."""
    old = {test for _, before in checks_before(bench) for test in before.outcomes.tests}
    if any(judgement.ran.outcomes.named for judgement in judgements):
        return any(judgement.ran.outcomes.passing - old for judgement in judgements)
    return any(holds_tests(change.path) and change.added for change in changes)
