"""Refuses an order that can't be carried out, before a task exists. What is only doubtful is said in a line."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from afresh.app.orders.check_programs import find_start_fault
from afresh.app.project import Project
from afresh.code.goal_targets import MissingTarget, find_missing_names, find_missing_paths
from afresh.code.names_in_text import find_named_paths
from afresh.core.spending import LimitUnit
from afresh.core.state import State
from afresh.core.task import FIX_VIOLATION_TYPE, REFACTOR_TYPE, Task
from afresh.core.text import format_count
from afresh.errors import BadInput, NeedsPerson, suggest_reinstall
from afresh.models.choose_model import (
    OFFLINE_SPEC,
    ChosenModel,
    choose_model,
    endpoint_of_provider,
    is_paid,
    settings_for_model,
    split_mailbox_spec,
)
from afresh.models.mailbox_files import make_mailbox_folder
from afresh.models.model_settings import ModelSettings
from afresh.models.providers.connection import find_import_fault, require_route
from afresh.models.scripted import read_script
from afresh.spending.ledger import make_unpriced_error
from afresh.spending.price_list import PriceTable
from afresh.workspace.checkout_files import CheckoutFiles
from afresh.workspace.repository import Repository

NO_TASK_CREATED = "no task was created"
NO_CHECK_QUESTION = "No check was given and none was found, so the result can't be verified. Go on?"
DEFINITION_PATTERN = r"(def|class|fn|func|function|struct|interface|type|const|enum|trait)[[:space:]]+[A-Za-z_][A-Za-z0-9_]*"


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderTerms:
    """What the person allows, and how warnings reach them."""

    starts_now: bool = True
    """False: the task waits in the queue, perhaps for a worker with other keys."""
    without_check: bool = False
    force: bool = False
    """Start although a file of the goal or the program of a check was not found."""
    confirm: Callable[[str], bool] | None = None
    """Asks the person; None: there is nobody to ask."""
    tell: Callable[[str], None] = lambda text: None
    sure: set[str] = field(default_factory=set[str])
    """Checks of earlier tasks of the same order that were found able to start."""


def check_model(project: Project, task: Task, terms: OrderTerms) -> None:
    """Raise if the model can't be used: no such name, key, package or price, or not for this type."""
    own = project.settings
    spec = choose_model_spec(task, own.model)
    if not spec:
        if terms.starts_now:
            raise make_no_model_error(NO_TASK_CREATED)
        return
    refuse_offline_type(spec, task)
    chosen = choose_model(spec, own.models)
    if terms.starts_now:
        check_model_files(chosen)
    if not chosen.is_provider:
        return
    try:
        if fault := find_import_fault("anthropic" if chosen.kind == "anthropic" else "openai") if terms.starts_now else "":
            raise NeedsPerson(fault, next=suggest_reinstall(), safe="nothing was sent")
        require_route(endpoint_of_provider(chosen.kind), settings_for_model(chosen, ModelSettings(named=own.models)))
    except NeedsPerson as fault:
        if terms.starts_now:
            raise NeedsPerson(fault.what, next=fault.next, safe=f"nothing was sent; {NO_TASK_CREATED}") from None
        terms.tell(f"{fault.what}; it must be there when the task is worked on")
    limit = next((limit for limit in own.limits if limit.own and limit.unit is LimitUnit.MONEY), None)
    if limit and is_paid(spec, own.models, own.prices) and not PriceTable(own.prices).of(chosen.spec):
        raise make_unpriced_error(chosen.spec, limit, "your config.toml")


def check_model_files(chosen: ChosenModel) -> None:
    """Raise BadInput if a script can't be read or a mailbox can't be used."""
    try:
        if chosen.kind == "scripted":
            read_script(Path(chosen.argument).expanduser())
        if chosen.kind == "mailbox":
            make_mailbox_folder(split_mailbox_spec(chosen.argument)[0])
    except BadInput as fault:
        raise BadInput(fault.what, next=fault.next, safe=NO_TASK_CREATED) from None


def choose_model_spec(task: Task, default: str) -> str:
    """Return the task's model, or the user's; fix_violation needs none."""
    return task.model or default or (OFFLINE_SPEC if task.judged_as == FIX_VIOLATION_TYPE else "")


def make_no_model_error(safe: str, more: str = "") -> NeedsPerson:
    return NeedsPerson(
        "no model is set",
        next="`afresh setup` chooses one for all tasks, or pass --model (`afresh models` lists what can be used; mailbox:DIR: "
        f"answer by hand){more}",
        safe=safe,
    )


def refuse_offline_type(spec: str, task: Task) -> None:
    """Raise BadInput for the offline rules with a type that they know nothing of."""
    if spec == OFFLINE_SPEC and task.judged_as != FIX_VIOLATION_TYPE:
        raise BadInput(
            f"--model offline works only with --type fix_violation, not with {task.type}",
            next="pass another --model (`afresh setup` chooses one), or --type fix_violation",
            safe="nothing was changed",
        )


def check_goal(project: Project, task: Task, terms: OrderTerms) -> None:
    """Raise BadInput if the goal asks to work on a file or name that is not there."""
    paths = CheckoutFiles(project.paths.root).paths()
    missing = find_missing_paths(task.goal, paths)
    alone = task.judged_as == FIX_VIOLATION_TYPE or not find_named_paths(task.goal, paths)
    for target in (*missing, *_find_missing_names(project, task.goal)):
        if terms.force or not _is_refused(target, task.judged_as, alone, target in missing):
            if target.is_worked_on:
                terms.tell(target.words)
            continue
        raise BadInput(
            target.words,
            next="correct the goal, or pass --force to start with it as it is",
            safe=NO_TASK_CREATED,
        )
    if task.judged_as == FIX_VIOLATION_TYPE:
        _check_scope(project, task, terms)


def _is_refused(target: MissingTarget, family: str, alone: bool, is_path: bool) -> bool:
    """Only where the task can't be about anything else: a bug may well be about a file or a name that does not exist."""
    if family == FIX_VIOLATION_TYPE:
        return is_path or target.is_worked_on
    if family == REFACTOR_TYPE:
        return target.is_worked_on and target.is_code and (alone or not is_path)
    return family == "fix_bug" and is_path and target.is_worked_on and target.is_code and alone


def _find_missing_names(project: Project, goal: str) -> list[MissingTarget]:
    git = Repository.find(project.paths.root).git

    def occurs(name: str) -> bool:
        return bool(git.ask("grep", "--untracked", "-l", "-w", "-F", "-e", name, "--", "."))

    def list_definitions() -> set[str]:
        return {line.split()[-1] for line in git.ask("grep", "-h", "-o", "-E", "-e", DEFINITION_PATTERN, "--", ".").splitlines()}

    return find_missing_names(goal, occurs, list_definitions)


def _check_scope(project: Project, task: Task, terms: OrderTerms) -> None:
    """Say how much is in the scope of the goal. If nothing is, the task ends as unchanged and says so."""
    from afresh.code.complexity import MAX_COMPLEXITY
    from afresh.code.context_items.violations import find_complexity_violations
    from afresh.code.python_source import PythonTreeReader

    violations = find_complexity_violations(PythonTreeReader().tree(CheckoutFiles(project.paths.root)), State(task=task))
    files = {source.path for source, _ in violations}
    terms.tell(f"scope: {format_count(len(files), 'file')}, {format_count(len(violations), 'function')} over {MAX_COMPLEXITY}")


COMMANDS_THAT_TEST_NOTHING = ("true", ":", "exit 0")


def check_commands(project: Project, task: Task, terms: OrderTerms, commit: str = "HEAD") -> None:
    """Raise BadInput if there is no check, or if a program of one can't start in a task that begins with this commit."""
    for check in task.checks:
        if check.command.strip() in COMMANDS_THAT_TEST_NOTHING:
            terms.tell(f"the check `{check.command}` tests nothing, so its success proves nothing")
        fault = None if terms.force or check.command in terms.sure else find_start_fault(project, check.command, commit)
        if fault and fault.path and Path(fault.path).name in re.findall(r"[\w.-]+", task.goal):
            terms.tell(f"the check `{check.command}` can't run yet: {fault.why}, and the goal names it")
        elif fault:
            raise BadInput(
                f"the check `{check.command}` can't run: {fault.why}",
                next=f"{fault.remedy}, or give another --check; --force creates the task, which asks if it is still missing",
                safe=NO_TASK_CREATED,
            )
        terms.sure.add(check.command)
    if task.checks or task.report or terms.without_check or (terms.confirm and terms.confirm(NO_CHECK_QUESTION)):
        return
    raise BadInput(
        "no check was given and none was found, so the result can't be verified",
        next="pass --check COMMAND (it must exit 0 when the task is done), or --no-check",
        safe=NO_TASK_CREATED,
    )
