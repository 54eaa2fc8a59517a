"""Which changes of tests a task may make, and how those that it may not are put back alone."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from afresh.core.change import Change
from afresh.core.licences.licence_for_tests import LicensedChange, Weakening, WeakeningWay
from afresh.core.licences.match_licence import is_covered, match_licence
from afresh.core.recognise_test_files import get_file_name, is_conftest, is_test_file
from afresh.core.task import WRITE_TESTS_TYPE, Check
from afresh.core.verdict import list_first_names
from afresh.ports.tool import ToolContext
from afresh.ports.workspace import Workspace
from afresh.verification.check_configuration import is_check_configuration
from afresh.verification.court import Leave
from afresh.verification.protected_tests import ProtectedFileChange, WeakenedFiles, find_weakened_tests, find_weakenings
from afresh.verification.put_back_tests import put_back_section, put_back_statements
from afresh.verification.regressions import select_conclusive_checks
from afresh.verification.weakened_tests_by_grammar import put_back_tests_by_grammar

MAX_NAMED_WEAKENINGS = 5
HOW_TO_GET_A_LICENCE = (
    "if the task asks for this change, `note` subject=licence, text=the tests (path::test), why=its exact words: the edits are "
    "then applied again in that step; else `ask`, or leave them"
)


@dataclass(frozen=True, slots=True)
class ChangedTests:
    """What was changed in the tests of the base: with a licence, and without one."""

    licensed: tuple[tuple[Weakening, LicensedChange], ...] = ()
    refused: WeakenedFiles = field(default_factory=dict[ProtectedFileChange, tuple[Weakening, ...]])

    @property
    def weakenings(self) -> tuple[Weakening, ...]:
        """Those without a licence."""
        return tuple(one for found in self.refused.values() for one in found)

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(one.path for one in self.refused)

    def describe_refused(self) -> str:
        return list_first_names(dict.fromkeys(one.told for one in self.weakenings), MAX_NAMED_WEAKENINGS)

    def describe_licensed(self) -> str:
        """For the person who reads the verdict: what was changed, and by which words."""
        told = dict[str, list[str]]()
        for one, entry in self.licensed:
            way = "tests changed because of" if entry.needs_proof else "tests changed as asked by"
            told.setdefault(f"{way} {entry.reason or '--allow-test-changes'}", []).append(one.told)
        return "; ".join(f"{why}: {list_first_names(ways, 3)}" for why, ways in told.items())

    def covers_test(self, test: str) -> bool:
        """Whether the test itself was changed with a licence: as it was at the base it may fail, and it may be gone."""
        return any(is_named_by(one, test) for one, _ in self.licensed)

    def is_tried_as_delivered(self, change: Change) -> bool:
        """Whether more than single tests of a file was changed with a licence, or a `conftest.py` above it, or a helper that it
        no longer imports: with it as it was no test can be run."""
        shared = {one.path for one, _ in self.licensed if not is_single_test(one)}
        above = (one for one in shared if is_conftest(one))
        return (
            change.path in shared
            or any(change.path.startswith(one.removesuffix("conftest.py")) for one in above)
            or any(_drops_import(change, one) for one in shared)
        )

    def make_leave(self, changes: Iterable[Change], tests: Iterable[str]) -> Leave:
        """What of these changes, and of the tests of the baseline, may be other than it was at the base."""
        files = frozenset(change.path for change in changes if self.is_tried_as_delivered(change))
        return Leave(files, frozenset(filter(self.covers_test, tests)))


NO_TEST_CHANGES = ChangedTests()


def _drops_import(change: Change, helper: str) -> bool:
    """Whether a line that imports from the helper is gone."""
    module = re.escape(get_file_name(helper).removesuffix(".py"))
    return bool(re.search(rf"^-\s*(?:from|import)\b.*\b{module}\b", change.patch, re.MULTILINE))


def is_single_test(one: Weakening) -> bool:
    """And not a value or helper that others use, in the file or in a class."""
    return is_test_file(one.path) and one.name.rpartition(".")[2].startswith(("test", "Test"))


def is_named_by(one: Weakening, test: str) -> bool:
    """Whether a test of a report, of pytest or unittest, is the one that was changed, or is in the class or file that was."""
    path, _, inner = test.partition("::")
    if inner:
        names = inner.partition("[")[0].split("::")
        wanted = one.name.split(".") if one.name else []
        return path == one.path and names[: len(wanted)] == wanted
    module = one.path.removesuffix(".py").replace("/", ".")
    dotted = ".".join(part for part in (module.rpartition(".")[2], one.name) if part)
    return test == path and f".{dotted}." in f".{test}."


def is_licensed_test(test: str, licence: Sequence[LicensedChange]) -> bool:
    """Whether a test of a report is one that the licence covers: until it is changed it may fail."""
    path, _, inner = test.partition("::")
    name = inner.partition("[")[0].replace("::", ".")
    if not inner:
        *module, owner, function = test.split(".") if test.count(".") > 1 else ("", "", "")
        path, name = f"{'/'.join(module)}.py", f"{owner}.{function}"
    return any(is_covered(Weakening(path, WeakeningWay.ALTER, "", name), entry) for entry in licence)


def judge_test_changes(context: ToolContext, workspace: Workspace) -> ChangedTests:
    """All changes since the base; the tree is left as it was found."""
    if context.state.task.judged_as == WRITE_TESTS_TYPE:
        return NO_TEST_CHANGES
    files = find_weakened_tests(context, workspace, select_conclusive_checks(context))
    matched = match_licence([one for found in files.values() for one in found], context.state.verification.licence)
    left = {file: tuple(one for one in found if one not in matched) for file, found in files.items()}
    return ChangedTests(tuple(matched.items()), {file: found for file, found in left.items() if found})


def put_back_changes(context: ToolContext, workspace: Workspace, judged: ChangedTests, before: str) -> tuple[str, ...]:
    """Put back what has no licence, statement by statement and setting by setting; the files of which that was not possible.
    These are as in the snapshot `before`."""
    checks, whole = select_conclusive_checks(context), list[str]()
    for file, found in judged.refused.items():
        text = _put_back_in_file(file, found, checks)
        if text is None:
            whole.append(file.path)
        else:
            context.files.write(file.path, text)
    if whole:
        workspace.restore(before, whole)
    return tuple(whole)


def _put_back_in_file(file: ProtectedFileChange, found: Sequence[Weakening], checks: Sequence[Check]) -> str | None:
    if file.base is None or file.now is None:
        return None
    if not is_check_configuration(file.path, checks):
        if file.path.endswith(".py"):
            return put_back_statements(file.path, file.base, file.now, found)
        return put_back_tests_by_grammar(file.path, file.base, file.now)
    marks = {f"{one.name.partition('.')[0]}" for one in found}
    text = put_back_section(file.base, file.now, marks) if all(marks) else None
    left = find_weakenings(replace(file, now=text), checks) if text is not None else ()
    return text if not {one.name for one in left} & {one.name for one in found} else None
