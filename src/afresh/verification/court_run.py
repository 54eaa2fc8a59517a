"""The runs that decide: with the court as it was at the base, then as delivered, then once more of what turned green."""

import re
import sys
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from afresh.core.action import PLAIN_MANNER, FileAccess, RunManner
from afresh.core.recognise_test_files import get_file_name, is_code_file, is_protected_path, is_test_code
from afresh.core.rewrite_check_command import narrow_to_names
from afresh.core.steering_files import is_file_asked_for, list_persons_words
from afresh.core.task import WRITE_TESTS_TYPE, Check
from afresh.core.verdict import CheckRun, NoteKind, VerdictNote, list_first_names
from afresh.ports.tool import ToolContext
from afresh.ports.workspace import Workspace
from afresh.verification.checks import NO_TESTS, run_check
from afresh.verification.confirm_regressions import confirm_final_regressions
from afresh.verification.court import CourtChange, CourtKind, Leave, list_restored_files, name_module
from afresh.verification.regressions import (
    BaselineCheck,
    CheckComparison,
    compare_final_run,
    pair_checks_with_baseline,
    require_tests,
    waive_tests,
)
from afresh.verification.try_wrong_versions import ELSEWHERE_SCOPE, MAX_CONTROL_TESTS, GreenTests, try_versions
from afresh.verification.witness import Work, read_work

COURT_SCOPE = "full, with the tests of the base"
_MODULE_SUFFIXES = (".py", ".pyc", ".so", ".pyd")
PYTEST_FOUND_NOTHING = 5
_FOUND_NOTHING = re.compile(
    r"\bno (?:tests?|test files?|spec files?) (?:ran|found|were found|specified)|\bno test files\b", re.IGNORECASE
)
ELSEWHERE = RunManner(elsewhere=True)
MAX_WRONG_SHARE = 0.3
"""What reading the change and trying wrong versions may add to the time that the judgement has taken till then."""
MIN_WRONG_SECONDS = 10.0
"""What that may take in any case: a few starts of a test runner, also on a busy machine."""


def run_in_court(
    context: ToolContext, workspace: Workspace, court: Sequence[CourtChange], leave: Leave, missing: Sequence[str] = ()
) -> list[CheckComparison]:
    """The court's run is the only one where both trees are the same, or where files lack leave (`missing`). Each run has a fresh
    tree: a file that is not in the commit must not decide."""
    began = time.monotonic()
    known, delivered = pair_checks_with_baseline(context), workspace.snapshot()
    restored = tuple(dict.fromkeys((*list_restored_files(court, leave), *missing)))
    odd = _make_tree(context, workspace, delivered, restored)
    is_allowed, scope = leave.tests.__contains__, COURT_SCOPE if restored else "full"
    decide = waive_tests if restored else require_tests
    judgements = [
        _judge_watched(context, workspace, check, decide(before, is_allowed), leave.tests, scope) for check, before in known
    ]
    if all(one.base is None for one in court if one.path in restored):
        judgements = [
            _excuse_without_court(context, judged, before) for judged, (_, before) in zip(judgements, known, strict=True)
        ]
    notes = tuple(_list_notes(court, restored, odd, any(judged.problem for judged in judgements)))
    if restored and not missing:
        _make_tree(context, workspace, delivered)
        moved = frozenset(restored) if context.state.task.judged_as == WRITE_TESTS_TYPE else frozenset[str]()
        for check, before in known:
            gone = leave.tests | frozenset(test for test in before.firm if test.partition("::")[0] in moved)
            judgements.append(_run_and_compare(context, check, require_tests(before, is_allowed), gone))
    _append_notes(judgements, notes)
    if missing:
        return judgements
    renew = partial(_make_tree, context, workspace, delivered)
    return_to_base = partial(_make_tree, context, workspace, context.state.workspace.first_snapshot)
    greens = [
        GreenTests.of(context, check, waive_tests(before, is_allowed), judged, renew, return_to_base)
        for (check, before), judged in zip(known, judgements[-len(known) :], strict=True)
    ]
    judgements = _confirm_green(greens, judgements)
    if not any(judged.problem for judged in judgements):
        now = time.monotonic()
        until = now + max(MIN_WRONG_SECONDS, MAX_WRONG_SHARE * (now - began))
        _append_notes(judgements, _call_witnesses(context, read_work(context, workspace, court, delivered), greens, until))
    return judgements


def _append_notes(judgements: list[CheckComparison], notes: Iterable[VerdictNote]) -> None:
    if judgements:
        judgements[-1] = replace(judgements[-1], notes=(*judgements[-1].notes, *notes))


def _call_witnesses(context: ToolContext, work: Work, greens: Sequence[GreenTests], until: float) -> Iterator[VerdictNote]:
    """What the runs do not show: by reading the change, and by runs of wrong versions of it, while there is time."""
    yield from work.list_doubts()
    for green in greens:
        if green.is_newly_green and (versions := work.list_wrong_versions(green.chosen)):
            green.renew()
            yield from try_versions(green, versions, work.list_related_tests(green.chosen), until).make_notes()


def _make_tree(context: ToolContext, workspace: Workspace, delivered: str, restored: Sequence[str] = ()) -> Sequence[str]:
    """A fresh tree with these files as at the base, and what the task changed as a checkout would have it: with all files, if it
    changed what decides that. Those that come out otherwise than they are in the commit."""
    first = context.state.workspace.first_snapshot
    workspace.restore(delivered, fresh=True)
    if restored:
        workspace.restore(first, restored)
    changed = [change.path for change in workspace.changes(first, delivered)]
    everything = any(get_file_name(path) == ".gitattributes" for path in changed)
    return workspace.check_out(context.files.paths() if everything else changed)


def _list_notes(court: Sequence[CourtChange], restored: Sequence[str], odd: Sequence[str], failed: bool) -> Iterator[VerdictNote]:
    """What a reader of the verdict has to know of the files."""
    if failed and restored:
        yield VerdictNote(NoteKind.AS_AT_BASE, tuple(restored))
    if odd:
        yield VerdictNote(NoteKind.CHECKED_OUT, tuple(odd))
    if shared := [one.path for one in court if one.kind is CourtKind.SHARED]:
        yield VerdictNote(NoteKind.SHARED, tuple(shared))
    data = [one.path for one in court if one.kind is CourtKind.DATA and one.base is not None and one.path in restored]
    if data and not failed:
        yield VerdictNote(NoteKind.TEST_DATA, tuple(data))


def _run_and_compare(
    context: ToolContext,
    check: Check,
    before: BaselineCheck,
    gone: frozenset[str] = NO_TESTS,
    scope: str = "full",
    manner: RunManner = PLAIN_MANNER,
) -> CheckComparison:
    """`gone`: tests that need not run any more: they had leave, or were moved by whoever is to write tests, in the files that it
    rewrote; the court's run has tried these."""
    ran = run_check(context.sandbox, check, scope=scope, known=before.red, manner=manner)
    judged = confirm_final_regressions(context, check, ran, before, partial(compare_final_run, waived=gone), manner)
    return replace(judged, with_base_tests=scope == COURT_SCOPE)


def _excuse_without_court(context: ToolContext, judged: CheckComparison, before: BaselineCheck) -> CheckComparison:
    """Where the runner found no test at the base, the run without what was added finds none either."""
    run, code = before.run, judged.ran.run.exit
    if not judged.with_base_tests or before.outcomes.readable or code != run.exit or code == 0:
        return judged
    if code != PYTEST_FOUND_NOTHING and not _FOUND_NOTHING.search(context.store.read(run.block)):
        return judged
    return replace(judged, problem="", notes=(VerdictNote(NoteKind.NO_TEST_BEFORE),))


def _judge_watched(
    context: ToolContext, workspace: Workspace, check: Check, before: BaselineCheck, gone: frozenset[str], scope: str
) -> CheckComparison:
    """A run that may rewrite nothing of the tree, and load no module in place of another, but as it did at the base."""
    paths, tree = frozenset(context.files.paths()), workspace.snapshot()
    known = before.files or FileAccess()
    fixed = sorted(path for path in paths & known.opened if is_protected_path(path) and path not in known.written)
    judged = _run_and_compare(context, check, before, gone, scope, RunManner(watched=True, fixed=tuple(fixed)))
    if not before.files or not judged.ran.files:
        return judged
    seen, changed = judged.ran.files, workspace.changes(tree, workspace.snapshot())
    rewritten = _find_rewritten(seen.written, paths) | {change.path for change in changed if change.kind != "added"}
    written = (rewritten | {path for path in seen.written - paths if is_test_code(path)}) - known.written
    added = {change.path for change in workspace.changes(context.state.workspace.first_snapshot, tree) if change.kind == "added"}
    new = {path for path in seen.opened - known.opened if path in added or path not in paths}
    unread = known.opened & paths - seen.opened
    hidden = [f"{other} hides {path}" for path in unread for other in new if _takes_place(other, path)]
    hidden += [f"{path} hides {name}" for path, name in _list_shadows(context, before.run, new & added)]
    told = [
        f"`{check.command}` writes {list_first_names(written)}, and did not at the base" if written else "",
        f"another module is loaded in place of one of the base: {list_first_names(hidden)}" if hidden else "",
    ]
    notes = (*judged.notes, VerdictNote(NoteKind.UNSEEN_WRITES, (seen.gap,))) if seen.gap else judged.notes
    return replace(judged, problem="; ".join(filter(None, told)) or judged.problem, notes=notes)


def _find_rewritten(written: frozenset[str], paths: frozenset[str]) -> frozenset[str]:
    """Files of the tree that were written, moved or deleted, also by what was done to a folder above them."""
    folders = tuple(f"{path}/" for path in written - paths)
    return frozenset(path for path in paths if path in written or path.startswith(folders)) if folders else written & paths


def _takes_place(new: str, old: str) -> bool:
    """Code under the same name."""
    plain = new != old and is_code_file(new) and is_code_file(old) and not is_test_code(old)
    return plain and name_module(new).lower() == name_module(old).lower()


def _list_shadows(context: ToolContext, run: CheckRun, paths: Collection[str]) -> Iterator[tuple[str, str]]:
    """New modules that were loaded in place of one that the runner, or the tool that the command names, had loaded itself."""
    outside = frozenset(run.evidence.modules) or sys.stdlib_module_names - {"test"}
    names = outside | {"sitecustomize", "usercustomize", *re.findall(r"\w+", run.command)}
    roots = {"", "src", "lib", *(path.rpartition("/")[0] for path in context.files.paths() if is_test_code(path))}
    words = list_persons_words(context.state)
    for path in sorted(paths):
        top = path.rpartition("/")[0] if get_file_name(path).startswith("__init__.") else path
        name = get_file_name(top).partition(".")[0]
        if (
            name in names
            and top.rpartition("/")[0] in roots
            and path.endswith(_MODULE_SUFFIXES)
            and not is_file_asked_for(path, words)
        ):
            yield path, name


def _confirm_green(greens: Sequence["GreenTests"], judgements: Sequence[CheckComparison]) -> list[CheckComparison]:
    """What turned green must stay green: in each of these runs, and in two more or one."""
    if any(judgement.problem for judgement in judgements):
        return list(judgements)
    judged = list(judgements[: -len(greens)])
    for at, green in enumerate(greens):
        judged.append(_confirm_green_check(green, [green.judged, *judged[at : at + 1]]))
    return judged


def _confirm_green_check(green: GreenTests, runs: Sequence[CheckComparison]) -> CheckComparison:
    """Alone where tests have names: once more here, if there was one run, and once elsewhere."""
    before, judged = green.before, runs[0]
    if not green.is_newly_green:
        return judged
    failing = frozenset(test for one in runs for test in one.ran.outcomes.failing)
    if once := frozenset(green.chosen) & before.outcomes.failing & failing:
        return replace(judged, problem=f"passes in one run and fails in another: {list_first_names(once)}")
    if len(runs) == 1 and (lost := green.find_failing()):
        return replace(judged, problem=f"passes once and fails when it is run again: {list_first_names(lost)}")
    lost = green.find_failing(ELSEWHERE)
    return _explain_failing(green, green.judged, lost) if lost else green.judged


def _explain_failing(green: GreenTests, judged: CheckComparison, lost: Sequence[str]) -> CheckComparison:
    """Refused, unless what passed at the base fails there, too, or it is not known: then perhaps nothing can be run there."""
    if again := green.find_failing():
        return replace(judged, problem=f"passes once and fails when it is run again: {list_first_names(again)}")
    told = f"passes here and fails {ELSEWHERE_SCOPE}, without afresh's variables: {list_first_names(lost)}"
    control = sorted(green.before.firm & judged.ran.outcomes.passing)[:MAX_CONTROL_TESTS]
    command = narrow_to_names(green.check.command, control) if control else None
    sandbox = green.context.sandbox
    fits = run_check(sandbox, green.check, narrowed=command, manner=ELSEWHERE).run.exit == 0 if command else None
    if fits is False or (fits is None and sandbox.level != "bubblewrap"):  # there an editable install needs our variables
        return replace(judged, notes=(*judged.notes, VerdictNote(NoteKind.FAILS_ELSEWHERE, (told,))))
    return replace(judged, problem=told)
