"""One run of a check held against its run at the baseline."""

from dataclasses import dataclass

from afresh.domain.verdict import CheckRun
from afresh.engine.verify.outcomes import ERROR, Outcomes
from afresh.engine.verify.run import NONE, Ran
from afresh.engine.verify.summary import listed, plural

NAMED_LOST = 20
_UNLOADED = "unittest.loader._FailedTest."
_FIXTURES = (".setUpClass", ".tearDownClass", ".setUpModule", ".tearDownModule")


@dataclass(frozen=True, slots=True)
class Before:
    """A check at the baseline."""

    run: CheckRun
    outcomes: Outcomes
    flaky: frozenset[str]

    @property
    def decides(self) -> bool:
        return self.run.command not in self.flaky

    @property
    def firm(self) -> frozenset[str]:
        """Tests that passed, both times."""
        return self.outcomes.passing - self.flaky


@dataclass(frozen=True, slots=True)
class Judgement:
    ran: Ran
    problem: str = ""
    regressions: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def judge_step(ran: Ran, before: Before) -> Judgement:
    """Did this change break what worked? What never worked is not held against it."""
    if known := _at_once(ran, before):
        return known
    if ran.run.exit and not before.run.exit and not ran.outcomes.failing:
        return Judgement(ran, f"`{before.run.command}` exits {ran.run.exit} now, and 0 before")
    return Judgement(ran, notes=tuple(_notes(ran.outcomes, before)))


def _at_once(ran: Ran, before: Before) -> Judgement | None:
    """What decides whether it is one step or the whole task: a flaky check, a run that can't be read, a test that was lost."""
    if not before.decides:
        return Judgement(ran, notes=(f"`{before.run.command}` is flaky and decides nothing",))
    if problem := _unreadable(ran, before):
        return Judgement(ran, problem)
    if lost := regressions(ran.outcomes, before):
        return Judgement(ran, f"{plural(len(lost), 'test')} passed before and {_fail(len(lost))} now: {listed(lost)}", lost)
    return None


def _fail(count: int) -> str:
    return "fails" if count == 1 else "fail"


def _unreadable(ran: Ran, before: Before) -> str:
    """What can be said of a run by its end alone."""
    if ran.run.timed_out:
        return f"`{before.run.command}` timed out and was killed; it ended before"
    if ran.outcomes.readable:
        return ""
    if ran.run.exit and (not before.run.exit or before.outcomes.readable):
        return f"`{before.run.command}` exits {ran.run.exit} and no test result can be read"
    if before.outcomes.readable and not ran.run.exit:
        return f"`{before.run.command}` exits 0, but none of its tests has run"
    return ""


def regressions(now: Outcomes, before: Before) -> tuple[str, ...]:
    """Tests that passed and now fail, and files or classes with such tests that can't even be loaded."""
    lost = set(now.failing & before.firm)
    for test in now.failing - before.outcomes.tests.keys():
        hidden = hides(test) if now.tests[test] == ERROR else ""
        if hidden and any(one.startswith(hidden) and one not in now.tests for one in before.firm):
            lost.add(test)
    if before.outcomes.readable and not before.outcomes.named and not before.run.exit:
        lost |= now.failing - before.flaky
    return tuple(sorted(lost))


def hides(error: str) -> str:
    """The beginning of the names of all tests that this error keeps from running."""
    if error.startswith(_UNLOADED):
        return error.removeprefix(_UNLOADED) + "."
    for fixture in _FIXTURES:
        if error.endswith(fixture):
            return error.removesuffix(fixture) + "."
    return "" if "::" in error else error.rstrip("/")


def _notes(now: Outcomes, before: Before) -> list[str]:
    old = now.failing & before.outcomes.failing - before.flaky
    new = now.failing - before.outcomes.tests.keys() - before.flaky
    flaky = now.failing & before.flaky
    notes: list[str] = []
    if old:
        notes.append(f"{plural(len(old), 'test')} failed already before: {listed(old)}")
    if new:
        notes.append(f"{plural(len(new), 'new test')} {_fail(len(new))}: {listed(new)}")
    if flaky:
        notes.append(f"flaky, deciding nothing: {listed(flaky)}")
    return notes


def judge_final(ran: Ran, before: Before, waived: frozenset[str] = NONE) -> Judgement:
    """Does the whole check hold, and does every test that passed still run and pass? `waived` tests may be gone."""
    if known := _at_once(ran, before):
        return known
    gone = missing(ran.outcomes, before) - waived
    if gone:
        problem = (
            f"{plural(len(gone), 'test')} ran before and {'is' if len(gone) == 1 else 'are'} skipped or gone now: {listed(gone)}"
        )
        return Judgement(ran, problem, tuple(sorted(gone)[:NAMED_LOST]))
    if problem := _fewer(ran.outcomes, before):
        return Judgement(ran, problem)
    return Judgement(ran, *_exit(ran, before))


def _fewer(now: Outcomes, before: Before) -> str:
    """Where tests are not all known by name (an output of megabytes is cut), a missing one still shows in the count."""
    if before.outcomes.named and now.named:
        return ""
    least = before.outcomes.passed - len(before.outcomes.passing & before.flaky)
    return f"{least} tests passed before, only {now.passed} now" if now.passed < least else ""


def judge_base(ran: Ran, before: Before) -> Judgement:
    """Do the base's own tests hold? New tests may lack what was put back for this run, and are judged in the next."""
    if not before.decides or not before.outcomes.named:
        return Judgement(ran)
    judgement = judge_final(ran, before)
    failing = ran.outcomes.failing & before.outcomes.tests.keys() - before.flaky
    return judgement if judgement.regressions or failing or not ran.outcomes.readable else Judgement(ran)


def missing(now: Outcomes, before: Before) -> frozenset[str]:
    """Tests that ran at the base and are deselected, skipped or deleted now, whatever they said."""
    if not before.outcomes.named or not now.named:
        return frozenset()
    failed = frozenset(test for test in before.outcomes.failing - before.flaky if not hides(test))
    return (before.firm | failed) - now.passing - now.failing


def _exit(ran: Ran, before: Before) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    if ran.run.exit == 0:
        return "", (), ()
    failing = ran.outcomes.failing
    if failing and failing <= before.flaky:
        return "", (), (f"flaky, deciding nothing: {listed(failing)}",)
    old = failing & before.outcomes.failing - before.flaky
    new = failing - old - before.flaky
    parts = [f"{plural(len(new), 'test')} {_fail(len(new))}: {listed(new)}"] if new else []
    if old:
        parts.append(f"{plural(len(old), 'test')} failed before the task began and still {_fail(len(old))}: {listed(old)}")
    return f"`{before.run.command}` exits {ran.run.exit}: " + ("; ".join(parts) or "it must exit 0"), (), ()
