"""Lists tasks from what is wrong with the checkout: a task for each failing test, or for each file with violations."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

from afresh.app.code.violations import Violation, list_violations
from afresh.app.open_workspace import make_mounts
from afresh.app.orders.choose_checks import ProjectWithSettings, choose_checks
from afresh.app.orders.import_list import TaskList
from afresh.app.orders.tasks import TaskOrder
from afresh.app.project import Project
from afresh.config.task_lists.listed_task import MAX_DETAILS_CHARACTERS, NOTHING_ADDED, ListedTask, make_key, refuse_long_list
from afresh.core.rewrite_check_command import narrow_to_names
from afresh.core.task import FIX_BUG_TYPE, FIX_VIOLATION_TYPE, Check
from afresh.core.truncate import truncate_text
from afresh.core.verdict import FailedTest
from afresh.errors import BadInput, NotPossible
from afresh.sandbox.choose_level import choose_sandbox
from afresh.verification.checks import CheckResult, run_check
from afresh.workspace.checkout_files import CheckoutFiles, make_scratch_copy
from afresh.workspace.repository import Repository

MAX_LISTED_FUNCTIONS = 12


def list_failing_tests(project: Project, command: str, order: TaskOrder) -> TaskList:
    """Run the test command in the sandbox, on a copy of the checkout. Each failing test is the check of its task where it can be
    run alone; otherwise the whole command is."""
    command = command or find_test_command(project)
    result = run_in_copy(project, command)
    if result.run.timed_out:
        raise NotPossible(
            f"{command} did not end within {project.settings.check_timeout} s",
            next="raise check_timeout in .afresh/config.toml, or name fewer tests",
            safe=NOTHING_ADDED,
        )
    if result.run.exit and not result.outcomes.failures:
        raise NotPossible(
            f"{command} failed (exit {result.run.exit}), but no failing test can be read from what it printed",
            next="name a command whose tests are known: pytest, unittest, jest, go, cargo …",
            safe=NOTHING_ADDED,
        )
    tasks = [_make_test_task(place, failure, command) for place, failure in enumerate(result.outcomes.failures, 1)]
    refuse_long_list(tasks, command)
    return TaskList(command, tasks, "tests", order=replace(order, type=order.type or FIX_BUG_TYPE), again=True)


def _make_test_task(place: int, failure: FailedTest, command: str) -> ListedTask:
    message = f": {failure.message}" if failure.message else ""
    return ListedTask(
        key=make_key(failure.test),
        goal=f"{failure.test} fails{message}",
        name=failure.test.rpartition("::")[2],
        line=place,
        details=truncate_text("\n".join(filter(None, (failure.message, failure.detail))), MAX_DETAILS_CHARACTERS),
        checks=(narrow_to_names(command, [failure.test]) or command,),
    )


def find_test_command(project: Project) -> str:
    """The first check of the settings, or the test command that was found."""
    if project.settings.checks:
        return project.settings.checks[0]
    chosen = choose_checks(ProjectWithSettings(project.paths, project.settings), limit=0)
    if not chosen.checks:
        raise BadInput(f"no test command was found: {chosen.told}", next="afresh add --from-tests COMMAND", safe=NOTHING_ADDED)
    return chosen.checks[0]


def run_in_copy(project: Project, command: str) -> CheckResult:
    """Run a command once in the sandbox, in a copy of the checkout that is removed afterwards."""
    repository, settings = Repository.find(project.paths.root), project.settings
    names = CheckoutFiles(repository.root).paths()
    with make_scratch_copy(repository, names, settings.copy) as tree:
        mounts = make_mounts(repository, tree, settings)
        sandbox = choose_sandbox(mounts, cache=project.paths.make_state() / "sandbox-probe")
        return run_check(sandbox, Check(command, settings.check_timeout))


def list_violation_tasks(project: Project, order: TaskOrder) -> TaskList:
    """One task for each file with functions over the limits: changes of one file would conflict with each other."""
    found = sorted(list_violations(project.paths.root, (), offers=False), key=lambda one: one.path)
    groups = [(path, list(violations)) for path, violations in groupby(found, key=lambda one: one.path)]
    tasks = [_make_violation_task(place, path, violations) for place, (path, violations) in enumerate(groups, 1)]
    refuse_long_list(tasks, "violations")
    return TaskList("violations", tasks, "violations", order=replace(order, type=FIX_VIOLATION_TYPE), again=True)


def _make_violation_task(place: int, path: str, violations: Sequence[Violation]) -> ListedTask:
    worst = sorted(violations, key=lambda one: -one.weight)[:MAX_LISTED_FUNCTIONS]
    lines = [
        f"- {one.function}, line {one.line}: " + ", ".join(f"{it.name} {it.value} (limit {it.limit})" for it in one.measures)
        for one in worst
    ]
    hidden = len(violations) - len(worst)
    more = [f"- and {hidden} more"] if hidden else []
    return ListedTask(key=make_key(path), goal=f"fix the violations in {path}", line=place, details="\n".join([*lines, *more]))
